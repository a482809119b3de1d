import type { Claims } from "../claims.ts";

/** Seconds by which clocks may differ. */
export const clockTolerance = 30;

/** Longest lifetime of a token, seconds. */
export const longestLifetime = 86_400;

/**
 * What is wrong with the types and times of a token's claims at `now` (milliseconds since 1970), or undefined
 * (`security.md` §4). Issuer and audience are compared elsewhere.
 */
export function claimsFault(claims: Claims, now: number): string | undefined {
  const { sub, aud, exp, iat, nbf } = claims;
  if (typeof sub !== "string" || sub === "") return "claim sub is no text";
  if (!isAudience(aud)) return "claim aud is no text and no list of texts";
  if (!isTime(exp)) return "claim exp is missing or no time";
  if (!isTime(iat)) return "claim iat is missing or no time";
  if (nbf !== undefined && !isTime(nbf)) return "claim nbf is no time";
  const seconds = now / 1_000;
  if (exp + clockTolerance <= seconds) return "it has expired";
  if (iat - clockTolerance > seconds) return "it was issued in the future";
  if (nbf !== undefined && nbf - clockTolerance > seconds) return "it is not valid yet";
  if (exp - iat > longestLifetime) return "it is valid for more than 24 hours";
  return undefined;
}

function isTime(value: unknown): value is number {
  return Number.isFinite(value);
}

function isAudience(value: unknown): boolean {
  return typeof value === "string" || (Array.isArray(value) && value.every((member) => typeof member === "string"));
}
