import { hash } from "node:crypto";

import type { OwnToken } from "./token-reader.ts";

const capacity = 10_000;

/**
 * Tokens that were verified, by their SHA-256, until they expire or the keys change; of more than 10 000 the least
 * recently used are dropped. Only valid ones come in, so that wrong ones never push those out.
 */
export class VerifiedTokens {
  readonly #tokens = new Map<string, OwnToken>();
  #keys: unknown;
  /** The last of the map. */
  #newest: string | undefined;

  /** `keys`: what the tokens were verified with; another value than before drops all tokens. */
  find(digest: string, keys: unknown, now: number): OwnToken | undefined {
    this.#dropOthers(keys);
    const found = this.#tokens.get(digest);
    if (found === undefined) return undefined;
    if (found.expiresAt > now && digest === this.#newest) return found;
    this.#tokens.delete(digest);
    if (found.expiresAt <= now) return undefined;
    // The last of the map is the one used last.
    this.#tokens.set(digest, found);
    this.#newest = digest;
    return found;
  }

  keep(digest: string, token: OwnToken, keys: unknown): void {
    this.#dropOthers(keys);
    this.#tokens.set(digest, token);
    this.#newest = digest;
    if (this.#tokens.size <= capacity) return;
    const [oldest] = this.#tokens.keys();
    if (oldest !== undefined) this.#tokens.delete(oldest);
  }

  #dropOthers(keys: unknown): void {
    if (keys === this.#keys) return;
    this.#tokens.clear();
    this.#keys = keys;
  }
}

/** The name under which a token is kept. */
export function digestOf(token: string): string {
  return hash("sha256", token, "base64url");
}
