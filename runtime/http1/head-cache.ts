/** Longer heads, in bytes, are not cached. */
const maxSize = 2_048;

/**
 * Caches the last head of a connection, or of a replica, that arrived whole, so that the same bytes are not parsed
 * again.
 */
export class HeadCache<Head> {
  #text = "";
  #head: Head | undefined;

  /** The cached head, if it was parsed from this very `text`. */
  find(text: string): Head | undefined {
    return this.#text === text ? this.#head : undefined;
  }

  /** `head` was parsed from `text` alone, and must not change any more. */
  store(text: string, head: Head): void {
    if (text.length > maxSize) return;
    this.#text = text;
    this.#head = head;
  }

  clear(): void {
    this.#text = "";
    this.#head = undefined;
  }
}
