import { federatedAudience, federatedIssuer, federatedPrefix, reservedClaims, type Claims } from "../claims.ts";

/**
 * What an issued token carries of the token of a trusted issuer: its subject, issuer and audience as `fed:`, and all
 * claims whose names are not reserved.
 */
export function carriedClaims(subject: Claims): Claims {
  return {
    ...free(subject, (name) => name.startsWith(federatedPrefix)),
    sub: `${federatedPrefix}${String(subject["sub"])}`,
    [federatedIssuer]: subject["iss"],
    [federatedAudience]: subject["aud"],
  };
}

/** What a token issued for an API token of this platform carries of it: the same subject and claims. */
export function keptClaims(issued: Claims): Claims {
  return { ...free(issued, () => false), sub: issued["sub"] };
}

function free(claims: Claims, isReserved: (name: string) => boolean): Claims {
  const kept = Object.entries(claims).filter(
    ([name]) => !reservedClaims.has(name) && name !== "__proto__" && !isReserved(name),
  );
  return Object.fromEntries(kept);
}
