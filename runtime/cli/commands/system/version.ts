import { release } from "../../../api/version.ts";
import { CliError } from "../../cli-error.ts";
import { readOne } from "../../client/read-reply.ts";
import { anyInfoReply } from "../../client/reply-kinds.ts";
import type { CommandContext } from "../../command-context.ts";
import type { CommandSpec } from "../../command-spec.ts";
import { formatFields } from "../../output/format-fields.ts";

interface VersionOptions {
  readonly client?: boolean;
}

/** What the gateway is; others of this API family say less. */
interface GatewayVersion {
  readonly address: string;
  readonly release: string | undefined;
  readonly apiVersion: string | undefined;
  readonly provider: string | undefined;
  readonly edition: string | undefined;
}

/** `weir version`. */
export const showVersion: CommandSpec<VersionOptions> = {
  about: "Shows the version of this program and of the gateway.",
  options: [{ flags: "--client", about: "only this program; no gateway is asked" }],
  groups: ["gateway", "output"],
  examples: [
    { line: "weir version", about: "Of this program and the gateway" },
    { line: "weir version --client -o name", about: "Of this program alone" },
  ],
  run: async (context, { client = false }) => {
    const gateway = client ? undefined : await gatewayVersion(context);
    const known = gateway instanceof CliError ? undefined : gateway;
    await context.output.value(
      { client: { release }, ...(known === undefined ? {} : { gateway: known }) },
      {
        text: () =>
          formatFields([
            ["client", release],
            ["gateway", known && `${known.release ?? "unknown"} at ${known.address}`],
            ["API", known?.apiVersion],
            ["provider", known?.provider],
            ["edition", known?.edition],
          ]),
        name: release,
      },
    );
    if (gateway instanceof CliError) throw gateway;
  },
};

/** Why there is none is said after what is known all the same. */
async function gatewayVersion(context: CommandContext): Promise<GatewayVersion | CliError> {
  try {
    const gateway = await context.gateway();
    const { version, apiVersion, provider, edition } = await readOne(gateway, "/system/info", anyInfoReply);
    return {
      address: gateway.address,
      release: version?.release,
      apiVersion,
      provider: provider?.provider,
      edition,
    };
  } catch (err) {
    if (err instanceof CliError) return err;
    throw err;
  }
}
