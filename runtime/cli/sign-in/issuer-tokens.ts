import type { buildAuthorizationUrl, TokenEndpointResponse } from "openid-client";

import { formatDuration } from "../../api/duration.ts";
import type { SignInIssuer } from "../../api/schemas/iam/sign-in.ts";
import { CliError } from "../cli-error.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCode } from "../exit-code.ts";
import { checkedUrl, type IssuerClient } from "./issuer-client.ts";
import { openLoopbackRedirect } from "./loopback-redirect.ts";
import { openBrowser } from "./open-browser.ts";

/** What an issuer gives to somebody who signs in. */
export interface IssuerTokens {
  readonly idToken: string;
  readonly refreshToken: string | undefined;
}

export interface SignInOptions {
  /** Of the loopback redirect; 0 is any free one. */
  readonly callbackPort: number;
  /** Milliseconds in which the person has to sign in. */
  readonly timeout: number;
}

/**
 * Signs in through a browser of this machine: code flow, PKCE, loopback redirect (RFC 8252).
 * @throws CliError when the issuer refuses, or nobody signs in
 */
export async function signInByBrowser(
  context: CommandContext,
  client: IssuerClient,
  issuer: SignInIssuer,
  { callbackPort, timeout }: SignInOptions,
): Promise<IssuerTokens> {
  const { config } = client;
  const openid = await import("openid-client");
  const [expectedState, expectedNonce] = [openid.randomState(), openid.randomNonce()];
  const redirect = await openLoopbackRedirect(callbackPort, expectedState);
  context.onClose(() => redirect.close());
  const pkceCodeVerifier = openid.randomPKCECodeVerifier();
  const href = authorizationAddress(openid.buildAuthorizationUrl, client, issuer, {
    redirect_uri: redirect.uri,
    state: expectedState,
    nonce: expectedNonce,
    code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: "S256",
  });
  context.output.warn(`Sign in with this address in a browser of this machine:\n${href}`);
  if (context.mayAsk) openBrowser(href);
  const arrived = await inTime(context, timeout, (signal) => redirect.arrival(signal));
  try {
    const checks = { pkceCodeVerifier, expectedState, expectedNonce, idTokenExpected: true };
    return tokensIn(await openid.authorizationCodeGrant(config, arrived, checks), issuer.issuer);
  } catch (err) {
    throw client.failure(err);
  }
}

/**
 * Signs in through a browser of any machine: device code (RFC 8628).
 * @throws CliError when the issuer refuses, or nobody signs in
 */
export async function signInByDevice(
  context: CommandContext,
  client: IssuerClient,
  issuer: SignInIssuer,
  { timeout }: SignInOptions,
): Promise<IssuerTokens> {
  const { config } = client;
  const openid = await import("openid-client");
  if (config.serverMetadata().device_authorization_endpoint === undefined)
    throw new CliError(
      exitCode.credentials,
      `Cannot sign in with ${issuer.issuer}: it has no device_authorization_endpoint; use --sso instead of --device`,
    );
  return inTime(context, timeout, async (signal) => {
    try {
      const pkceCodeVerifier = openid.randomPKCECodeVerifier();
      const device = await openid.initiateDeviceAuthorization(config, {
        scope: scopeOf(issuer),
        // RFC 8628 has no PKCE; Keycloak demands it of a client that requires it.
        code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: "S256",
      });
      context.output.warn(`Sign in at ${device.verification_uri} with this code: ${device.user_code}`);
      const whole = device.verification_uri_complete;
      if (whole !== undefined) context.output.warn(`Or with this address: ${whole}`);
      const verifier = { code_verifier: pkceCodeVerifier };
      return tokensIn(await openid.pollDeviceAuthorizationGrant(config, device, verifier, { signal }), issuer.issuer);
    } catch (err) {
      throw client.failure(err);
    }
  });
}

/**
 * The next tokens of somebody who signed in.
 * @throws CliError when the issuer refuses
 */
export async function refreshedTokens(
  { config, failure }: IssuerClient,
  issuer: string,
  refreshToken: string,
): Promise<IssuerTokens> {
  const openid = await import("openid-client");
  try {
    const { idToken, refreshToken: next } = tokensIn(await openid.refreshTokenGrant(config, refreshToken), issuer);
    return { idToken, refreshToken: next ?? refreshToken };
  } catch (err) {
    throw failure(err);
  }
}

/**
 * What somebody does, who has `timeout` milliseconds for it.
 * @throws CliError when they do not, or at Ctrl-C
 */
async function inTime<T>(
  { terminal }: CommandContext,
  timeout: number,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = AbortSignal.timeout(timeout);
  const over = AbortSignal.any([limit, terminal.signal]);
  const ended = Promise.withResolvers<never>();
  const end = (): void => ended.reject(over.reason);
  over.addEventListener("abort", end, { once: true });
  try {
    over.throwIfAborted();
    // The wait between two polls does not end with the signal.
    return await Promise.race([act(over), ended.promise]);
  } catch (cause) {
    if (terminal.signal.aborted) throw new CliError(exitCode.interrupted, "", { cause });
    if (!limit.aborted) throw cause;
    const sentence = `Cannot sign in: nobody did so within ${formatDuration(timeout)}; --timeout gives more time`;
    throw new CliError(exitCode.timeout, sentence, { cause });
  } finally {
    over.removeEventListener("abort", end);
  }
}

function tokensIn(
  { id_token: idToken, refresh_token: refreshToken }: TokenEndpointResponse,
  issuer: string,
): IssuerTokens {
  if (idToken !== undefined) return { idToken, refreshToken };
  const sentence = `Cannot sign in with ${issuer}: it gave no id token; it must allow the client the scope openid`;
  throw new CliError(exitCode.credentials, sentence);
}

/** Where the browser signs in: an address that may be opened. */
function authorizationAddress(
  build: typeof buildAuthorizationUrl,
  { config, failure }: IssuerClient,
  issuer: SignInIssuer,
  parameters: Readonly<Record<string, string>>,
): string {
  const scope = scopeOf(issuer);
  // OpenID Connect Core, section 11: without consent there is no refresh token.
  const prompt = scope.split(" ").includes("offline_access") ? { prompt: "consent" } : {};
  try {
    return checkedUrl(build(config, { ...parameters, scope, ...prompt }).href).href;
  } catch (err) {
    throw failure(err);
  }
}

function scopeOf({ scopes }: SignInIssuer): string {
  return [...new Set(["openid", ...scopes])].join(" ");
}
