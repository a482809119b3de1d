import type { ErrorCode } from "../../../api/platform-error.ts";
import type { SystemInfo } from "../../../api/schemas/system-info.ts";
import { CliError, usageError } from "../../cli-error.ts";
import type { TlsFiles } from "../../client/dispatcher.ts";
import type { GatewayCredentials } from "../../client/gateway-credentials.ts";
import { readOne } from "../../client/read-reply.ts";
import { whoAmIReply } from "../../client/reply-kinds.ts";
import type { CommandContext } from "../../command-context.ts";
import type { CommandSpec } from "../../command-spec.ts";
import { checkTransport } from "../../gateways/choose-credentials.ts";
import { namedGateway, type ChosenGateway } from "../../gateways/choose-gateway.ts";
import { configFiles } from "../../gateways/config-directory.ts";
import { changeContexts, checkedContextName, type GatewayContext } from "../../gateways/contexts.ts";
import { storeCredentials, whileNoOtherSignsIn } from "../../gateways/stored-credentials.ts";
import { flaggedTls } from "../../open-context.ts";
import type { SharedFlags } from "../../shared-options.ts";
import type { SignInFlags } from "../../sign-in/sign-in.ts";
import { loginCredentials } from "./login-credentials.ts";

interface LoginOptions extends SharedFlags, SignInFlags {
  readonly name?: string;
}

/** `weir login`. */
export const login: CommandSpec<LoginOptions> = {
  about:
    "Signs in to a gateway: tries the credentials, then stores them for exactly that address. On a terminal it asks for what is missing.",
  arguments: [{ name: "[gateway]", about: "address of the gateway, as in https://weir.example.com" }],
  options: [
    { flags: "--name <context>", about: "store the gateway under this name, too, and make it the current one" },
    { flags: "--sso", about: "sign in through the browser, at a gateway with IAM" },
    { flags: "--device", about: "sign in through the browser of another machine, with a code" },
    { flags: "--issuer <name>", about: "with --sso or --device: the JwtIssuer; by default the first one by name" },
    { flags: "--callback-port <port>", about: "with --sso: where the browser comes back to; any free port by default" },
  ],
  groups: ["gateway"],
  examples: [
    {
      line: "weir login https://weir.example.com --sso",
      about: "Through the browser, at a gateway with IAM; --device where there is none",
    },
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
    const name = options.name === undefined ? undefined : checkedContextName(options.name);
    const gateway = await gatewayOf(context, options, argument);
    checkTransport(gateway.address, options);
    const tls = { ...tlsOf(gateway.context), ...flaggedTls(options, context.terminal.directory) };
    const { credentials, user } = await signedIn(context, gateway, options, tls);
    const { contexts: contextFile, credentials: file } = configFiles(context.terminal);
    // A renewal of what was stored before must not come after it.
    await whileNoOtherSignsIn(file, () => storeCredentials(file, gateway.address, credentials));
    context.output.note(`Signed in to ${gateway.address}${user === undefined ? "" : ` as ${user}`}`);
    if (name === undefined) return noteOther(context, gateway.address);
    await changeContexts(contextFile, ({ contexts }) => ({
      current: name,
      contexts: { ...contexts, [name]: { ...contexts[name], ...tls, gateway: gateway.address } },
    }));
    context.output.note(`Context "${name}" is the current one`);
  },
};

/** Credentials that the gateway takes, and whose they are. */
async function signedIn(
  context: CommandContext,
  gateway: ChosenGateway,
  options: LoginOptions,
  tls: TlsFiles,
): Promise<{ readonly credentials: GatewayCredentials; readonly user: string | undefined }> {
  checkWay(options);
  if (options.sso !== true && options.device !== true) {
    const credentials = await loginCredentials(context, options, gateway.address);
    await tryCredentials(context, gateway, credentials);
    return { credentials, user: credentials.kind === "basic" ? credentials.user : undefined };
  }
  const { signIn } = await import("../../sign-in/sign-in.ts");
  const credentials = await signIn(context, await context.connect(gateway, undefined), options, tls);
  const { subject } = await readOne(await context.connect(gateway, credentials), "/system/iam/whoami", whoAmIReply);
  return { credentials, user: subject };
}

/** @throws CliError when flags are of several ways to sign in, or of none that was chosen */
function checkWay({ sso, device, issuer, callbackPort, ...others }: LoginOptions): void {
  const isByIssuer = sso === true || device === true;
  if (issuer !== undefined && !isByIssuer) throw usageError("Cannot use --issuer: say --sso or --device, too");
  if (callbackPort !== undefined && sso !== true) throw usageError("Cannot use --callback-port: say --sso, too");
  if (!isByIssuer) return;
  const ways = {
    "--sso": sso,
    "--device": device,
    "--user": others.user,
    "--password-file": others.passwordFile,
    "--password-stdin": others.passwordStdin,
    "--token-file": others.tokenFile,
  };
  const given = Object.entries(ways).flatMap(([flag, value]) => (value === undefined || value === false ? [] : [flag]));
  if (given.length > 1)
    throw usageError(`Cannot use ${given.join(" with ")}: give one of --sso, --device, a password and a token`);
}

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
    if (!(err instanceof CliError)) throw err;
    // Credentials that may not ask for this are good ones.
    if (err.code === ("forbidden" satisfies ErrorCode)) return;
    if (!refused.has(err.code ?? "")) throw err;
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
