/** The longest time between two events, milliseconds; nothing counts before the first and after `close`. */
export class LongestGap {
  #last: number | undefined;
  #longest = 0;
  #closed = false;

  get longest(): number {
    return this.#longest;
  }

  mark(): void {
    if (this.#closed) return;
    const now = performance.now();
    if (this.#last !== undefined) this.#longest = Math.max(this.#longest, now - this.#last);
    this.#last = now;
  }

  close(): void {
    this.#closed = true;
  }
}
