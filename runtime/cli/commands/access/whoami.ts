import type { WhoAmI } from "../../../api/schemas/iam/access.ts";
import type { SystemInfo } from "../../../api/schemas/system-info.ts";
import { CliError } from "../../cli-error.ts";
import type { GatewayClient } from "../../client/gateway-client.ts";
import { readOne } from "../../client/read-reply.ts";
import { anyInfoReply, whoAmIReply } from "../../client/reply-kinds.ts";
import type { CommandSpec } from "../../command-spec.ts";
import { localTime } from "../../output/age-text.ts";
import { formatFields, type Field } from "../../output/format-fields.ts";

/** `weir whoami`. */
export const whoami: CommandSpec = {
  about:
    "Shows which gateway commands use and why, and who they sign in as; at a gateway with IAM also by which policies that may do anything.",
  groups: ["gateway", "output"],
  examples: [
    { line: "weir whoami", about: "Gateway, what named it, user, edition and version" },
    { line: "weir whoami -o name", about: "Only the user" },
  ],
  run: async (context) => {
    const chosen = await context.chosenGateway();
    const gateway = await context.gateway();
    const info = await infoOf(gateway);
    const identity =
      info === undefined || info.iam !== undefined
        ? await readOne(gateway, "/system/iam/whoami", whoAmIReply)
        : undefined;
    const { edition, version } = info ?? {};
    const { address, source } = chosen;
    const user = identity?.subject ?? gateway.user ?? "nobody";
    await context.output.value(
      { gateway: address, source, user, ...(identity && { identity }), edition, version: version?.release },
      {
        text: () =>
          formatFields([
            ["gateway", `${address} (${source})`],
            ["user", user],
            ...(identity === undefined ? [] : identityFields(identity)),
            ["edition", edition],
            ["version", version?.release],
          ]),
        name: user,
      },
    );
  },
};

/** What the gateway says of itself, which may be less than a Weir does; undefined if its rules do not let it say so. */
async function infoOf(gateway: GatewayClient): Promise<Partial<SystemInfo> | undefined> {
  try {
    return await readOne(gateway, "/system/info", anyInfoReply);
  } catch (err) {
    if (err instanceof CliError && err.code === "forbidden") return undefined;
    throw err;
  }
}

function identityFields({ name, issuer, via, administrator, policies, expiresAt }: WhoAmI): readonly Field[] {
  return [
    ["name", name],
    ["issuer", issuer],
    ["via", via],
    ["may", administrator ? "everything" : undefined],
    ["policies", policies.length === 0 ? (administrator ? undefined : "none") : policies.join(", ")],
    ["until", localTime(expiresAt)],
  ];
}
