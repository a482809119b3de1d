import { principalHeader, keyPrefixes, annotation } from "../../api/names.ts";
import { PlatformError } from "../../api/platform-error.ts";
import type { Principal } from "../../core/access/principal.ts";
import type { FunctionRef } from "../../core/functions/function-ref.ts";
import { quote } from "../../core/quote.ts";

/** Longest identity that a function is told, in bytes of names and values. */
const maxBytes = 4_096;

/** For callers without claims that a function asks for: the same list for all their calls. */
const withoutClaims = new WeakMap<Principal, readonly string[]>();

/**
 * The headers that tell a function who calls it, flat: subject, issuer, and as base64url JSON those of the caller's
 * claims that the function asks for. None where callers do not identify themselves.
 * @throws PlatformError `forbidden` when they are longer than 4 KiB
 */
export function principalHeaders(
  principal: Principal,
  claims: readonly string[] | undefined,
  { name, namespace }: FunctionRef,
): readonly string[] {
  const known = withoutClaims.get(principal);
  if (known !== undefined && claims === undefined) return known;
  const headers = principal.via === "open" ? [] : headersOf(principal, claims);
  const bytes = headers.reduce((sum, text) => sum + text.length, 0);
  if (bytes > maxBytes) {
    const key = `${keyPrefixes[0]}${annotation.authClaims}`;
    throw new PlatformError(
      "forbidden",
      `Cannot call function ${quote(name)} in ${quote(namespace)}: the caller's claims take ${bytes} bytes, more than ${maxBytes}; annotation ${key} of the function must list fewer`,
    );
  }
  if (claims === undefined) withoutClaims.set(principal, headers);
  return headers;
}

function headersOf({ subject, issuer, claims }: Principal, asked: readonly string[] | undefined): string[] {
  const headers: string[] = [principalHeader.subject, headerText(subject)];
  if (issuer !== undefined) headers.push(principalHeader.issuer, headerText(issuer));
  if (asked !== undefined) {
    const told = Object.fromEntries(
      asked.flatMap((name) => (Object.hasOwn(claims, name) ? [[name, claims[name]] as const] : [])),
    );
    headers.push(principalHeader.claims, Buffer.from(JSON.stringify(told)).toString("base64url"));
  }
  return headers;
}

/** As it is, if it is printable ASCII; other characters, blanks and `%` are percent-encoded, so that no two are alike. */
function headerText(text: string): string {
  return text.replaceAll(/[^!-$&-~]+/gu, (part) => encodeURIComponent(part.toWellFormed()));
}
