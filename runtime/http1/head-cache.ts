/** Longer heads are read each time. */
const longest = 2_048;

/** The last head of a connection, or of a replica, that came in one piece: the same bytes are not read twice. */
export class HeadCache<Head> {
  #text = "";
  #head: Head | undefined;

  /** The head that `text` is, if it is the last one. */
  recall(text: string): Head | undefined {
    return this.#text === text ? this.#head : undefined;
  }

  /** `head` is all that `text` says, and does not change any more. */
  keep(text: string, head: Head): void {
    if (text.length > longest) return;
    this.#text = text;
    this.#head = head;
  }

  forget(): void {
    this.#text = "";
    this.#head = undefined;
  }
}
