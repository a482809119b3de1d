import { exchangeGrant, subjectTokenTypes } from "../../api/schemas/iam/token.ts";
import { CliError } from "../cli-error.ts";
import type { GatewayClient } from "../client/gateway-client.ts";
import type { SignedIn, SignIn } from "../client/gateway-credentials.ts";
import { readStartOf, discardBody } from "../client/read-limited.ts";
import { exitOfStatus } from "../client/refusal.ts";
import { exitCode } from "../exit-code.ts";
import { escapeLine } from "../output/escape-text.ts";
import type { IssuerTokens } from "./issuer-tokens.ts";

/** Most bytes of a reply. */
const mostText = 65_536;

/**
 * Exchanges an issuer's id token for one of the gateway (RFC 8693).
 * @throws CliError with the gateway's reason when it refuses
 */
export async function exchangeForGateway(
  gateway: GatewayClient,
  { issuer, clientId }: Pick<SignIn, "issuer" | "clientId">,
  { idToken, refreshToken }: IssuerTokens,
): Promise<SignedIn> {
  const form = new URLSearchParams({
    grant_type: exchangeGrant,
    subject_token: idToken,
    subject_token_type: subjectTokenTypes[0],
  });
  const sentAt = Date.now();
  const reply = await gateway.send("POST", "/oauth/token", {
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: form.toString(),
    authorized: false,
  });
  const text = await readStartOf(reply.body, mostText);
  discardBody(reply.body);
  const { access_token: token, expires_in: lifetime, error_description: why } = fieldsOf(text);
  if (reply.status === 200 && typeof token === "string" && typeof lifetime === "number") {
    const expiresAt = new Date(sentAt + lifetime * 1_000).toISOString();
    const signIn = { expiresAt, issuer, clientId, ...(refreshToken === undefined ? {} : { refreshToken }) };
    return { kind: "bearer", token, signIn };
  }
  const reason = typeof why === "string" ? why : `it replied ${reply.status}`;
  const exit = reply.status === 400 ? exitCode.credentials : exitOfStatus(reply.status);
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
