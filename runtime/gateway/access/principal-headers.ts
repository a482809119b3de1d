import { principalHeader, keyPrefixes, annotation } from "../../api/names.ts";
import { PlatformError } from "../../api/platform-error.ts";
import type { Principal } from "../../core/access/principal.ts";
import type { FunctionRef } from "../../core/functions/function-ref.ts";
import { quote } from "../../core/quote.ts";

/** Longest identity that a function is told, in bytes of names and values; no more is kept for one caller. */
export const maxPrincipalBytes = 4_096;
/** Most lists of claims whose headers are kept for one caller. */
const maxLists = 8;

/** The list of claims that a function asks for: the same one until the function is deployed anew. */
type AskedClaims = readonly string[] | undefined;

/** The headers of one caller, by what functions ask for; the oldest first. */
interface KeptHeaders {
  readonly lists: Map<AskedClaims, MadeHeaders>;
  bytes: number;
}

interface MadeHeaders {
  readonly headers: readonly string[];
  readonly bytes: number;
}

/**
 * What was made for callers. A principal never changes: another version of the rules makes another one, and both go
 * with the token that they are kept beside.
 */
const kept = new WeakMap<Principal, KeptHeaders>();

/**
 * The headers that tell a function who calls it, flat: subject, issuer, and as base64url JSON those of the caller's
 * claims that the function asks for. None where callers do not identify themselves. They are made once for each list of
 * claims.
 * @throws PlatformError `forbidden` when they are longer than 4 KiB
 */
export function principalHeaders(
  principal: Principal,
  claims: AskedClaims,
  { name, namespace }: FunctionRef,
): readonly string[] {
  const known = kept.get(principal);
  const found = known?.lists.get(claims);
  if (found !== undefined) return found.headers;
  const headers = principal.via === "open" ? [] : headersOf(principal, claims);
  const bytes = headers.reduce((sum, text) => sum + text.length, 0);
  if (bytes > maxPrincipalBytes) {
    const key = `${keyPrefixes[0]}${annotation.authClaims}`;
    throw new PlatformError(
      "forbidden",
      `Cannot call function ${quote(name)} in ${quote(namespace)}: the caller's claims take ${bytes} bytes, more than ${maxPrincipalBytes}; annotation ${key} of the function must list fewer`,
    );
  }
  keep(principal, known, claims, { headers, bytes });
  return headers;
}

function keep(principal: Principal, known: KeptHeaders | undefined, claims: AskedClaims, made: MadeHeaders): void {
  const entry = known ?? { lists: new Map(), bytes: 0 };
  entry.lists.set(claims, made);
  entry.bytes += made.bytes;
  for (const [oldest, { bytes }] of entry.lists) {
    if (entry.lists.size <= maxLists && entry.bytes <= maxPrincipalBytes) break;
    entry.lists.delete(oldest);
    entry.bytes -= bytes;
  }
  if (known === undefined) kept.set(principal, entry);
}

function headersOf({ subject, issuer, claims }: Principal, asked: AskedClaims): string[] {
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
