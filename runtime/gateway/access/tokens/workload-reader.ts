import type { KeyObject } from "node:crypto";

import type { TokenHeader } from "../../../core/access/tokens/parse-token.ts";
import { workloadAudience, workloadIssuer, workloadTokenType } from "../../../core/access/tokens/workload-claims.ts";
import { verifyToken, type TokenVerdict } from "./verify-token.ts";

/** Verifies the workload tokens that functions of this machine have. */
export interface WorkloadReader {
  /** `iss` of the tokens. */
  readonly issuer: string;
  /** Verifies a token; of `audiences`, those that count, only the one of workload tokens can be its audience. */
  read(token: string, header: TokenHeader, audiences: readonly string[], now: number): Promise<TokenVerdict>;
}

/** `key` is the public half of the one key that signs them; `issuer` is that of the platform's own tokens. */
export function workloadReader(key: KeyObject, issuer: string): WorkloadReader {
  const tokenIssuer = workloadIssuer(issuer);
  const audience = workloadAudience(issuer);
  return {
    issuer: tokenIssuer,
    async read(token, { alg, typ }, audiences, now) {
      if (alg !== "ES256") return { kind: "invalid", why: "its alg is not ES256" };
      if (typ !== workloadTokenType) return { kind: "invalid", why: `its typ is not ${workloadTokenType}` };
      if (!audiences.includes(audience)) {
        return { kind: "invalid", why: `its JwtIssuer does not have ${audience} in aud` };
      }
      return verifyToken(token, key, { alg, issuer: tokenIssuer, audiences: [audience], now });
    },
  };
}
