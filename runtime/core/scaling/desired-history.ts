interface DesiredCount {
  readonly at: number;
  readonly desired: number;
}

/** Desired counts of one function over the last `scale.down.window`. Times never go back. */
export class DesiredHistory {
  /** Oldest first, each lower than the one before: a count is dropped once a later one is as high. */
  readonly #counts: DesiredCount[] = [];
  #began: number | undefined;

  /** Adds what is desired at `now`, and drops what is older than `window`. */
  note(desired: number, now: number, window: number): void {
    this.#began ??= now;
    while ((this.#counts.at(-1)?.desired ?? Infinity) <= desired) this.#counts.pop();
    this.#counts.push({ at: now, desired });
    let old = 0;
    while (old < this.#counts.length - 1 && (this.#counts[old]?.at ?? now) < now - window) old += 1;
    if (old > 0) this.#counts.splice(0, old);
  }

  /** The highest count desired within `window`; undefined until the whole window is recorded. */
  highest(now: number, window: number): number | undefined {
    return this.#began === undefined || now - this.#began < window ? undefined : this.#counts[0]?.desired;
  }

  /** Starts over. */
  clear(): void {
    this.#counts.length = 0;
    this.#began = undefined;
  }
}
