import { importJWK, type CryptoKey, type JWK } from "jose";

import { algorithmsOfKey } from "../../../core/access/tokens/key-algorithms.ts";
import type { TokenAlgorithm, TokenHeader } from "../../../core/access/tokens/parse-token.ts";

/** A key that verifies tokens, by the algorithms that it may be used with. */
export interface UsableKey {
  readonly kid: string | undefined;
  readonly byAlgorithm: ReadonlyMap<TokenAlgorithm, CryptoKey>;
}

/** The usable keys among published ones (JWKs); others are ignored. */
export async function importUsableKeys(published: readonly unknown[]): Promise<readonly UsableKey[]> {
  const imported = await Promise.all(published.map(importKey));
  return imported.filter((key) => key !== undefined);
}

/**
 * The key that verifies a token: the one of its kid, or the only one if it names none. Names are compared and nothing
 * else; if several keys fit, none is taken.
 */
export function keyFor(keys: readonly UsableKey[], { alg, kid }: TokenHeader): CryptoKey | undefined {
  const named =
    kid === undefined && keys.length === 1 ? keys : keys.filter((key) => key.kid === kid && kid !== undefined);
  const [first, second] = named.flatMap(({ byAlgorithm }) => byAlgorithm.get(alg) ?? []);
  return second === undefined ? first : undefined;
}

async function importKey(published: unknown): Promise<UsableKey | undefined> {
  const algorithms = algorithmsOfKey(published);
  if (algorithms.length === 0) return undefined;
  const jwk = published as JWK;
  const { kid } = jwk as { readonly kid?: unknown };
  if (kid !== undefined && typeof kid !== "string") return undefined;
  try {
    const keys = await Promise.all(
      algorithms.map(async (algorithm) => [algorithm, (await importJWK(jwk, algorithm)) as CryptoKey] as const),
    );
    return { kid, byAlgorithm: new Map(keys) };
  } catch {
    // Malformed, or a point beside its curve.
    return undefined;
  }
}
