import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from "openid-client";

import { PlatformError } from "../../../api/platform-error.ts";
import { named, publicly } from "../../../api/public-sentence.ts";
import { IssuerUnavailableError } from "../../../core/ports/issuer-documents.ts";
import { printable } from "../../../core/printable.ts";
import { quote } from "../../../core/quote.ts";
import { TokenFault } from "../../access/tokens/token-fault.ts";

/** What an issuer said cannot be used. */
export class IssuerFault extends Error {
  override readonly name = "IssuerFault";
}

const longest = 200;

/**
 * The error for a sign-in at an issuer that failed: the issuer is unavailable, it refused, or what it said cannot be
 * trusted. Whatever else failed is returned as it is.
 */
export function loginRefused(issuer: string, cause: unknown): unknown {
  if (isUnavailable(cause)) {
    const sentence = publicly`Cannot sign in at issuer ${named(issuer)}: it is unavailable`;
    return new PlatformError("provider_unavailable", sentence, { cause });
  }
  const why = sentenceOf(cause);
  if (why === undefined) return cause;
  const sentence = `Cannot sign in at issuer ${quote(issuer)}: ${printable(why.slice(0, longest))}`;
  return new PlatformError("forbidden", sentence, { cause });
}

function sentenceOf(cause: unknown): string | undefined {
  if (cause instanceof AuthorizationResponseError) return `it refused: ${cause.error}`;
  if (cause instanceof ResponseBodyError) return `it gave no token: ${cause.error}`;
  if (cause instanceof TokenFault) return `its token is not valid: ${cause.message.split(": ").at(-1) ?? ""}`;
  if (cause instanceof IssuerFault) return cause.message;
  if (cause instanceof WWWAuthenticateChallengeError) return "it gave no token";
  return cause instanceof ClientError ? `its response is not valid: ${reasonOf(cause)}` : undefined;
}

/** The library says what is wrong in the cause. */
function reasonOf({ message, cause }: Error): string {
  return cause instanceof Error && cause.message !== "" ? cause.message : message;
}

function isUnavailable(cause: unknown): boolean {
  for (let err = cause; err instanceof Error; err = err.cause) {
    if (err instanceof IssuerUnavailableError) return true;
    if (err instanceof TokenFault && err.error === "temporarily_unavailable") return true;
  }
  return false;
}

/** Errors of an issuer's reply (RFC 6749 §5.2) that say nothing of the person. */
const ofClient: ReadonlySet<string> = new Set([
  "invalid_client",
  "server_error",
  "slow_down",
  "temporarily_unavailable",
]);

/** Whether an issuer does not let a person go on, rather than that it could not be asked. */
export function isRefusal(cause: unknown): boolean {
  if (isUnavailable(cause)) return false;
  if (cause instanceof ResponseBodyError) return cause.status < 500 && !ofClient.has(cause.error);
  return cause instanceof TokenFault || cause instanceof IssuerFault;
}
