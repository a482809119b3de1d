import { usageError } from "../cli-error.ts";
import type { GatewayClient } from "../client/gateway-client.ts";
import type { SignedIn } from "../client/gateway-credentials.ts";
import type { TlsFiles } from "../client/dispatcher.ts";
import type { CommandContext } from "../command-context.ts";
import { exchangeForGateway } from "./exchange-for-gateway.ts";
import { openIssuerClient } from "./issuer-client.ts";
import { signInByBrowser, signInByDevice } from "./issuer-tokens.ts";
import { chooseIssuer, offeredIssuers } from "./offered-issuers.ts";

/** Flags of a sign-in with an issuer. */
export interface SignInFlags {
  readonly sso?: boolean;
  readonly device?: boolean;
  /** Name of a JwtIssuer. */
  readonly issuer?: string;
  readonly callbackPort?: string;
  readonly debug?: boolean;
}

/** Milliseconds that a person has. */
const usualTimeout = 300_000;

/**
 * Signs in with an issuer of the gateway, and exchanges its token.
 * @throws CliError when there is none, it refuses, or nobody signs in
 */
export async function signIn(
  context: CommandContext,
  gateway: GatewayClient,
  flags: SignInFlags,
  tls: TlsFiles,
): Promise<SignedIn> {
  const callbackPort = portOf(flags.callbackPort);
  const offered = await offeredIssuers(gateway);
  const issuer = chooseIssuer(offered, flags.issuer);
  if (flags.issuer === undefined && offered.length > 1) {
    const others = offered.slice(1).map(({ name }) => name);
    context.output.note(`Signing in with "${issuer.name}"; others are given with --issuer: ${others.join(", ")}`);
  }
  const { stderr, signal } = context.terminal;
  const debug = flags.debug === true ? (lines: string): void => void stderr.write(lines) : undefined;
  const client = await openIssuerClient(issuer, { tls, signal, debug });
  context.onClose(() => client.close());
  const sign = flags.device === true ? signInByDevice : signInByBrowser;
  const tokens = await sign(context, client, issuer, { callbackPort, timeout: context.timeout(usualTimeout) });
  return exchangeForGateway(gateway, issuer, tokens);
}

function portOf(text: string | undefined): number {
  if (text === undefined) return 0;
  const port = Number(text);
  if (/^[1-9]\d*$/.test(text) && port <= 65_535) return port;
  throw usageError(`Cannot use --callback-port "${text}": it must be a port from 1 to 65535`);
}
