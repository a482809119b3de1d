import type { exchangeGrant, subjectTokenTypes } from "../../api/schemas/iam/token.ts";
import { CliError } from "../cli-error.ts";
import type { GatewayClient } from "../client/gateway-client.ts";
import type { SignedIn, SignIn } from "../client/gateway-credentials.ts";
import { exitOfStatus } from "../client/refusal.ts";
import { exitCode } from "../exit-code.ts";
import { escapeLine } from "../output/escape-text.ts";
import type { IssuerTokens } from "./issuer-tokens.ts";

/** Most bytes of a reply. */
const mostText = 65_536;
// By the types alone: the schemas would load a library for two strings whenever a token is renewed.
const grantType: typeof exchangeGrant = "urn:ietf:params:oauth:grant-type:token-exchange";
const idTokenType: (typeof subjectTokenTypes)[0] = "urn:ietf:params:oauth:token-type:id_token";

/**
 * Exchanges an issuer's id token for one of the gateway (RFC 8693).
 * @throws CliError with the gateway's reason when it refuses, and when it cannot be reached or read
 */
export async function exchangeForGateway(
  gateway: GatewayClient,
  { issuer, clientId }: Pick<SignIn, "issuer" | "clientId">,
  { idToken, refreshToken }: IssuerTokens,
): Promise<SignedIn> {
  const form = new URLSearchParams({
    grant_type: grantType,
    subject_token: idToken,
    subject_token_type: idTokenType,
  });
  const sentAt = Date.now();
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const request = { headers, body: form.toString(), authorized: false };
  const { status, text } = await gateway.text("POST", "/oauth/token", request, mostText);
  const { access_token: token, expires_in: lifetime, error_description, detail } = fieldsOf(text);
  const end = new Date(sentAt + Number(lifetime) * 1_000);
  if (status === 200 && typeof token === "string" && typeof lifetime === "number" && !Number.isNaN(end.getTime())) {
    const expiresAt = end.toISOString();
    const signIn = { expiresAt, issuer, clientId, ...(refreshToken === undefined ? {} : { refreshToken }) };
    return { kind: "bearer", token, signIn };
  }
  const unusable = status === 200 ? "its reply has no access_token with expires_in" : `it replied ${status}`;
  const reason = [error_description, detail].find((why) => typeof why === "string") ?? unusable;
  const exit = status === 400 ? exitCode.credentials : exitOfStatus(status);
  throw new CliError(exit, escapeLine(`Cannot sign in to ${gateway.address}: ${reason}`));
}

function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
