import type { ErrorCode } from "../../../api/platform-error.ts";
import type { SystemInfo } from "../../../api/schemas/system-info.ts";
import { CliError } from "../../cli-error.ts";
import type { TlsFiles } from "../../client/dispatcher.ts";
import type { GatewayCredentials } from "../../client/gateway-credentials.ts";
import type { CommandContext } from "../../command-context.ts";
import type { CommandSpec } from "../../command-spec.ts";
import { exitCode } from "../../exit-code.ts";
import { checkTransport } from "../../gateways/choose-credentials.ts";
import { namedGateway, type ChosenGateway } from "../../gateways/choose-gateway.ts";
import { configFiles } from "../../gateways/config-directory.ts";
import { changeContexts, checkedContextName, type GatewayContext } from "../../gateways/contexts.ts";
import { storeCredentials } from "../../gateways/stored-credentials.ts";
import { flaggedTls } from "../../open-context.ts";
import type { SharedFlags } from "../../shared-options.ts";
import { loginCredentials } from "./login-credentials.ts";

interface LoginOptions extends SharedFlags {
  readonly name?: string;
  readonly sso?: boolean;
  readonly device?: boolean;
}

/** `weir login`. */
export const login: CommandSpec<LoginOptions> = {
  about:
    "Signs in to a gateway: tries the credentials, then stores them for exactly that address. On a terminal it asks for what is missing.",
  arguments: [{ name: "[gateway]", about: "address of the gateway, as in https://weir.example.com" }],
  options: [
    { flags: "--name <context>", about: "store the gateway under this name, too, and make it the current one" },
    { flags: "--sso", about: "sign in through the browser, at a gateway with IAM" },
    { flags: "--device", about: "sign in through the browser of another machine" },
  ],
  groups: ["gateway"],
  examples: [
    {
      line: 'weir login "$WEIR_GATEWAY" --password-file "$WEIR_PASSWORD_FILE"',
      about: "As in a script; without the file, a terminal is asked for the password",
    },
    {
      line: 'cat "$WEIR_PASSWORD_FILE" | weir login --password-stdin --name local',
      about: 'The password of a pipe; the gateway is the context "local" from then on',
    },
  ],
  run: async (context, options, [argument]) => {
    if (options.sso === true || options.device === true)
      throw new CliError(exitCode.credentials, "Cannot sign in by SSO: this gateway has no IAM");
    const name = options.name === undefined ? undefined : checkedContextName(options.name);
    const gateway = await gatewayOf(context, options, argument);
    checkTransport(gateway.address, options);
    const credentials = await loginCredentials(context, options, gateway.address);
    await tryCredentials(context, gateway, credentials);
    const files = configFiles(context.terminal);
    await storeCredentials(files.credentials, gateway.address, credentials);
    const who = credentials.kind === "basic" ? ` as ${credentials.user}` : "";
    context.output.note(`Signed in to ${gateway.address}${who}`);
    if (name === undefined) return noteOther(context, gateway.address);
    const tls = { ...tlsOf(gateway.context), ...flaggedTls(options, context.terminal.directory) };
    await changeContexts(files.contexts, ({ contexts }) => ({
      current: name,
      contexts: { ...contexts, [name]: { ...contexts[name], ...tls, gateway: gateway.address } },
    }));
    context.output.note(`Context "${name}" is the current one`);
  },
};

/** Codes whose usual hint is this very command. */
const refused: ReadonlySet<string> = new Set<ErrorCode>(["credentials_invalid", "credentials_required"]);

/** The gateway of the command line, else the one that other commands use, which a person is asked to confirm. */
async function gatewayOf(
  context: CommandContext,
  { gateway, context: contextName }: SharedFlags,
  argument: string | undefined,
): Promise<ChosenGateway> {
  if (argument !== undefined) return namedGateway(argument, "the command line");
  const chosen = await context.chosenGateway();
  if (gateway !== undefined || contextName !== undefined || !context.mayAsk) return chosen;
  const { askText } = await import("../../output/ask.ts");
  const answer = await askText("Address of the gateway", chosen.address, context.terminal.signal);
  return answer === chosen.address ? chosen : namedGateway(answer, "the answer");
}

async function tryCredentials(
  context: CommandContext,
  gateway: ChosenGateway,
  credentials: GatewayCredentials,
): Promise<void> {
  const client = await context.connect(gateway, credentials);
  try {
    await client.json<SystemInfo>("GET", "/system/info");
  } catch (err) {
    if (!(err instanceof CliError) || !refused.has(err.code ?? "")) throw err;
    const what = credentials.kind === "basic" ? `user "${credentials.user}" or the password` : "the token";
    throw new CliError(err.exit, `Cannot sign in to ${gateway.address}: ${what} is wrong`, { cause: err });
  }
}

/** Says so when other commands would go elsewhere. */
async function noteOther(context: CommandContext, address: string): Promise<void> {
  const used = await context.chosenGateway();
  if (used.address !== address)
    context.output.note(
      `Other commands use ${used.address} (${used.source}); name this one with --gateway, or store it with --name`,
    );
}

function tlsOf(context: GatewayContext | undefined): TlsFiles {
  if (context === undefined) return {};
  const { gateway: _, namespace: __, ...tls } = context;
  return tls;
}
