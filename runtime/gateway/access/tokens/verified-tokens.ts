import { hash } from "node:crypto";

import { maxPrincipalBytes } from "../principal-headers.ts";
import type { OwnToken } from "./token-reader.ts";

const maxTokens = 10_000;
/** Most bytes of all tokens and of the headers that are kept beside them. */
const maxBytes = 64 * 1_048_576;

/** A token, and what it counts as towards `maxBytes`: its text, and as much as is ever kept beside it. */
interface Kept {
  readonly token: OwnToken;
  readonly bytes: number;
}

/**
 * Tokens that were verified, by their SHA-256, until they expire or the keys change; of more than 10 000, or 64 MiB,
 * the least recently used are dropped. Only valid ones come in, so that wrong ones never push those out.
 */
export class VerifiedTokens {
  readonly #tokens = new Map<string, Kept>();
  #bytes = 0;
  #keys: unknown;
  /** The last of the map. */
  #newest: string | undefined;

  /** `keys`: what the tokens were verified with; another value than before drops all tokens. */
  find(digest: string, keys: unknown, now: number): OwnToken | undefined {
    this.#dropOthers(keys);
    const found = this.#tokens.get(digest);
    if (found === undefined) return undefined;
    if (found.token.expiresAt <= now) {
      this.#drop(digest);
      return undefined;
    }
    if (digest === this.#newest) return found.token;
    // The last of the map is the one used last.
    this.#tokens.delete(digest);
    this.#tokens.set(digest, found);
    this.#newest = digest;
    return found.token;
  }

  /** `length` is that of the token's text. */
  keep(digest: string, token: OwnToken, length: number, keys: unknown): void {
    this.#dropOthers(keys);
    this.#drop(digest);
    const bytes = length + maxPrincipalBytes;
    this.#tokens.set(digest, { token, bytes });
    this.#bytes += bytes;
    this.#newest = digest;
    for (const oldest of this.#tokens.keys()) {
      if (this.#tokens.size <= maxTokens && this.#bytes <= maxBytes) return;
      this.#drop(oldest);
    }
  }

  #drop(digest: string): void {
    const found = this.#tokens.get(digest);
    if (found === undefined) return;
    this.#tokens.delete(digest);
    this.#bytes -= found.bytes;
  }

  #dropOthers(keys: unknown): void {
    if (keys === this.#keys) return;
    this.#tokens.clear();
    this.#bytes = 0;
    this.#keys = keys;
  }
}

/** The name under which a token is kept. */
export function digestOf(token: string): string {
  return hash("sha256", token, "base64url");
}
