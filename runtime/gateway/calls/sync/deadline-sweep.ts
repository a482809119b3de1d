/** Something with a time limit. */
export interface Deadlined {
  /** In milliseconds of `performance.now()`; infinite = not yet known. */
  deadline: number;
  /** Index in the sweep, which alone sets it. */
  slot: number;
  /** Called at each sweep after the deadline, until it is removed. */
  expire(now: number): void;
  /** Called at each sweep; true when it ended without an event. */
  isLost(): boolean;
  /** Called when `isLost` returned true. */
  lose(): void;
  /** Called by `cutAll`: ends it at once. */
  cut(): void;
}

/**
 * Holds the calls in flight and expires those past their deadline, with one timer for all of them instead of one per
 * call. A deadline is overrun by at most `period` milliseconds.
 */
export class DeadlineSweep {
  readonly #entries: Deadlined[] = [];
  readonly #period: number;
  readonly #now: () => number;
  #timer: NodeJS.Timeout | undefined;

  constructor(period = 50, now: () => number = () => performance.now()) {
    this.#period = period;
    this.#now = now;
  }

  get size(): number {
    return this.#entries.length;
  }

  add(entry: Deadlined): void {
    entry.slot = this.#entries.length;
    this.#entries.push(entry);
    this.#timer ??= setInterval(() => this.#sweep(), this.#period).unref();
  }

  /** Does nothing if it was removed already. */
  remove(entry: Deadlined): void {
    if (entry.slot < 0) return;
    const last = this.#entries.pop();
    if (last !== undefined && last !== entry) {
      this.#entries[entry.slot] = last;
      last.slot = entry.slot;
    }
    entry.slot = -1;
  }

  /** Cuts all calls in flight. */
  cutAll(): void {
    // A copy, because a cut call is removed and the last one moves into its place.
    for (const entry of this.#entries.slice()) entry.cut();
  }

  #sweep(): void {
    if (this.#entries.length === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const now = this.#now();
    // Backwards, so that a removed entry is replaced by one that was visited already.
    for (let index = this.#entries.length - 1; index >= 0; index -= 1) {
      const entry = this.#entries[index];
      if (entry === undefined) continue;
      if (entry.isLost()) entry.lose();
      else if (entry.deadline <= now) entry.expire(now);
    }
  }
}
