import type { Claims } from "../../../core/access/claims.ts";
import { functionScopeIn } from "../../../core/access/tokens/function-scope.ts";
import { longestToken, parseToken } from "../../../core/access/tokens/parse-token.ts";
import type { KeyRing } from "./key-files.ts";
import type { OwnToken, TokenReader } from "./token-reader.ts";
import { digestOf, VerifiedTokens } from "./verified-tokens.ts";
import { verifyToken } from "./verify-token.ts";

/** Header member `typ` of tokens that this platform issues, by their kind. */
export const ownTokenType = { api: "weir-api+jwt", function: "weir-function+jwt" } as const;

/** Verifies tokens that `issuer`, this platform, signed with one of `keys`. */
export function ownTokenReader(keys: () => KeyRing, issuer: string, now: () => number): TokenReader {
  const verified = new VerifiedTokens();
  const reading = new Map<string, Promise<OwnToken | undefined>>();

  const verify = async (token: string, digest: string): Promise<OwnToken | undefined> => {
    const { verifying } = keys();
    const parsed = parseToken(token);
    if (parsed.kind === "malformed") return undefined;
    const { alg, kid, typ } = parsed.header;
    const kind = (["api", "function"] as const).find((each) => ownTokenType[each] === typ);
    const key = kid === undefined ? undefined : verifying.get(kid);
    if (kind === undefined || key === undefined || alg !== "ES256") return undefined;
    const verdict = await verifyToken(token, key, { alg, issuer, audiences: [issuer], now: now() });
    if (verdict.kind === "invalid") return undefined;
    const own = ownToken(kind, verdict.claims);
    if (own !== undefined && own.expiresAt > now()) verified.keep(digest, own, token.length, verifying);
    return own;
  };

  return {
    read(token) {
      if (token.length > longestToken) return undefined;
      const digest = digestOf(token);
      // Expiry and keys are looked at each time, so that what was verified once is not valid for ever.
      const found = verified.find(digest, keys().verifying, now());
      if (found !== undefined) return found;
      const begun = reading.get(digest);
      if (begun !== undefined) return begun;
      const begins = verify(token, digest).finally(() => reading.delete(digest));
      reading.set(digest, begins);
      return begins;
    },
  };
}

/** The token of such claims; undefined when they lack what the kind must have. */
function ownToken(kind: OwnToken["kind"], claims: Claims): OwnToken | undefined {
  const { policy, exp } = claims;
  if (!Array.isArray(policy) || !policy.every((name) => typeof name === "string")) return undefined;
  if (kind === "function" && functionScopeIn(claims) === undefined) return undefined;
  return { kind, claims, policies: new Set(policy), expiresAt: Number(exp) * 1_000 };
}
