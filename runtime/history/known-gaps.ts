import type { HistoryGap } from "../core/ports/call-history.ts";

/** Milliseconds after which they are read again: they leave the history with the calls of their time. */
const freshFor = 10_000;

/** The gaps of the history, which every reply names. */
export class KnownGaps {
  readonly #read: () => Promise<readonly HistoryGap[]>;
  #known: Promise<readonly HistoryGap[]> | undefined;
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(read: () => Promise<readonly HistoryGap[]>) {
    this.#read = read;
  }

  /** Rejects when they cannot be read. */
  async read(): Promise<readonly HistoryGap[]> {
    if (this.#known === undefined || performance.now() - this.#readAt > freshFor) {
      this.#readAt = performance.now();
      this.#known = this.#read();
    }
    const known = this.#known;
    try {
      return await known;
    } catch (err) {
      if (this.#known === known) this.forget();
      throw err;
    }
  }

  /** There is a new one. */
  forget(): void {
    this.#known = undefined;
  }
}
