import { errors, jwtVerify, type CryptoKey, type KeyObject } from "jose";

import type { Claims } from "../../../core/access/claims.ts";
import { claimsFault, clockTolerance } from "../../../core/access/tokens/claims-fault.ts";
import type { TokenAlgorithm } from "../../../core/access/tokens/parse-token.ts";

/** What a token must be to be valid. */
export interface TokenDemands {
  readonly alg: TokenAlgorithm;
  readonly issuer: string;
  /** One of them must be an audience of the token. */
  readonly audiences: readonly string[];
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The claims of a valid token, or why it is not valid. */
export type TokenVerdict =
  | { readonly kind: "valid"; readonly claims: Claims }
  | { readonly kind: "invalid"; readonly why: string };

/** Verifies signature and claims of a token with the key that was chosen for it (`security.md` §4). */
export async function verifyToken(
  token: string,
  key: CryptoKey | KeyObject,
  { alg, issuer, audiences, now }: TokenDemands,
): Promise<TokenVerdict> {
  let claims: Claims;
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: [alg],
      issuer,
      audience: [...audiences],
      requiredClaims: ["exp", "iat", "sub"],
      clockTolerance,
      currentDate: new Date(now),
    });
    claims = payload;
  } catch (err) {
    if (err instanceof errors.JOSEError) return { kind: "invalid", why: err.message };
    throw err;
  }
  const fault = claimsFault(claims, now);
  return fault === undefined ? { kind: "valid", claims } : { kind: "invalid", why: fault };
}
