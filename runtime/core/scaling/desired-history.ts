interface Wish {
  readonly at: number;
  readonly desired: number;
}

/** Remembers desired counts of one function as long as `scale.down.window` may ask. Times never go back. */
export class DesiredHistory {
  /** Oldest first, and each lower than the one before: what a higher later one hides is of no use. */
  readonly #wishes: Wish[] = [];
  #began: number | undefined;

  /** Notes what is desired at `now`, and forgets what is older than `window`. */
  note(desired: number, now: number, window: number): void {
    this.#began ??= now;
    while ((this.#wishes.at(-1)?.desired ?? Infinity) <= desired) this.#wishes.pop();
    this.#wishes.push({ at: now, desired });
    let old = 0;
    while (old < this.#wishes.length - 1 && (this.#wishes[old]?.at ?? now) < now - window) old += 1;
    if (old > 0) this.#wishes.splice(0, old);
  }

  /** The highest count desired since the last note but `window`; undefined unless the whole window was seen. */
  highest(now: number, window: number): number | undefined {
    return this.#began === undefined || now - this.#began < window ? undefined : this.#wishes[0]?.desired;
  }

  /** Begins anew. */
  clear(): void {
    this.#wishes.length = 0;
    this.#began = undefined;
  }
}
