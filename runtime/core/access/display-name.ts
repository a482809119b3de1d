import { printable } from "../printable.ts";
import { claimTexts, type Claims } from "./claims.ts";
import type { TrustedIssuer } from "./rule-set.ts";

/** Claims that name a person, where the JwtIssuer names none (OpenID Connect Core, section 5.1). */
export const usualNameClaims: readonly string[] = ["preferred_username", "email", "name"];

/** Most characters of a name. */
const longest = 128;

/**
 * What people call the subject of these claims; undefined if they do not say. At most issuers people choose it
 * themselves: it is only ever shown beside the subject, and decides nothing.
 */
export function displayName(claims: Claims, { nameClaims }: Pick<TrustedIssuer, "nameClaims">): string | undefined {
  for (const claim of nameClaims) {
    const name = printable(claimTexts(claims, claim).texts[0] ?? "").trim();
    if (name !== "") return name.length > longest ? `${name.slice(0, longest - 1)}…`.toWellFormed() : name;
  }
  return undefined;
}
