import type { buildAuthorizationUrl, TokenEndpointResponse } from "openid-client";

import type { SignInIssuer } from "../../api/schemas/iam/sign-in.ts";
import { CliError } from "../cli-error.ts";
import type { CommandContext } from "../command-context.ts";
import { exitCode } from "../exit-code.ts";
import { checkedUrl, issuerError, type IssuerClient } from "./issuer-client.ts";
import { openLoopbackRedirect, tooLate } from "./loopback-redirect.ts";
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
  { config }: IssuerClient,
  issuer: SignInIssuer,
  { callbackPort, timeout }: SignInOptions,
): Promise<IssuerTokens> {
  const openid = await import("openid-client");
  const redirect = await openLoopbackRedirect(callbackPort);
  context.onClose(() => redirect.close());
  const pkceCodeVerifier = openid.randomPKCECodeVerifier();
  const [expectedState, expectedNonce] = [openid.randomState(), openid.randomNonce()];
  const href = authorizationAddress(openid.buildAuthorizationUrl, config, issuer, {
    redirect_uri: redirect.uri,
    state: expectedState,
    nonce: expectedNonce,
    code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: "S256",
  });
  context.output.warn(`Sign in with this address in a browser of this machine:\n${href}`);
  if (context.mayAsk) openBrowser(href);
  const arrived = await redirect.arrival(expectedState, timeout, context.terminal.signal);
  try {
    const checks = { pkceCodeVerifier, expectedState, expectedNonce, idTokenExpected: true };
    return tokensIn(await openid.authorizationCodeGrant(config, arrived, checks), issuer.issuer);
  } catch (err) {
    throw issuerError(issuer.issuer, err);
  }
}

/**
 * Signs in through a browser of any machine: device code (RFC 8628).
 * @throws CliError when the issuer refuses, or nobody signs in
 */
export async function signInByDevice(
  context: CommandContext,
  { config }: IssuerClient,
  issuer: SignInIssuer,
  { timeout }: SignInOptions,
): Promise<IssuerTokens> {
  const openid = await import("openid-client");
  if (config.serverMetadata().device_authorization_endpoint === undefined)
    throw new CliError(
      exitCode.credentials,
      `Cannot sign in with ${issuer.issuer}: it knows no device codes; use --sso`,
    );
  const limit = AbortSignal.timeout(timeout);
  const { signal } = context.terminal;
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
    const polled = await openid.pollDeviceAuthorizationGrant(
      config,
      device,
      { code_verifier: pkceCodeVerifier },
      {
        signal: AbortSignal.any([limit, signal]),
      },
    );
    return tokensIn(polled, issuer.issuer);
  } catch (err) {
    if (signal.aborted) throw new CliError(exitCode.interrupted, "", { cause: err });
    throw limit.aborted ? tooLate(timeout) : issuerError(issuer.issuer, err);
  }
}

/**
 * The next tokens of somebody who signed in.
 * @throws CliError when the issuer refuses
 */
export async function refreshedTokens(
  { config }: IssuerClient,
  issuer: string,
  refreshToken: string,
): Promise<IssuerTokens> {
  const openid = await import("openid-client");
  try {
    const { idToken, refreshToken: next } = tokensIn(await openid.refreshTokenGrant(config, refreshToken), issuer);
    return { idToken, refreshToken: next ?? refreshToken };
  } catch (err) {
    throw issuerError(issuer, err);
  }
}

function tokensIn(
  { id_token: idToken, refresh_token: refreshToken }: TokenEndpointResponse,
  issuer: string,
): IssuerTokens {
  if (idToken !== undefined) return { idToken, refreshToken };
  throw new CliError(exitCode.credentials, `Cannot sign in with ${issuer}: it gave no id token`);
}

/** Where the browser signs in: an address that may be opened. */
function authorizationAddress(
  build: typeof buildAuthorizationUrl,
  config: IssuerClient["config"],
  issuer: SignInIssuer,
  parameters: Readonly<Record<string, string>>,
): string {
  const scope = scopeOf(issuer);
  // OpenID Connect Core, section 11: without consent there is no refresh token.
  const prompt = scope.split(" ").includes("offline_access") ? { prompt: "consent" } : {};
  try {
    return checkedUrl(build(config, { ...parameters, scope, ...prompt }).href).href;
  } catch (err) {
    throw issuerError(issuer.issuer, err);
  }
}

function scopeOf({ scopes }: SignInIssuer): string {
  return [...new Set(["openid", ...scopes])].join(" ");
}
