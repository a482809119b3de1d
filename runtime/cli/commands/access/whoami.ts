import type { SystemInfo } from "../../../api/schemas/system-info.ts";
import type { CommandSpec } from "../../command-spec.ts";
import { formatFields } from "../../output/format-fields.ts";

/** `weir whoami`. */
export const whoami: CommandSpec = {
  about: "Shows which gateway commands use and why, and who they sign in as.",
  groups: ["gateway", "output"],
  examples: [
    { line: "weir whoami", about: "Gateway, what named it, user, edition and version" },
    { line: "weir whoami -o name", about: "Only the user" },
  ],
  run: async (context) => {
    const chosen = await context.chosenGateway();
    const gateway = await context.gateway();
    // Other gateways of this API family say less.
    const { edition, version } = await gateway.json<Partial<SystemInfo>>("GET", "/system/info");
    const { address, source } = chosen;
    const user = gateway.user ?? "nobody";
    await context.output.value(
      { gateway: address, source, user, edition, version: version?.release },
      {
        text: () =>
          formatFields([
            ["gateway", `${address} (${source})`],
            ["user", user],
            ["edition", edition],
            ["version", version?.release],
          ]),
        name: user,
      },
    );
  },
};
