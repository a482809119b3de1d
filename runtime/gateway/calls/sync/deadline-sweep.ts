/** Something with a time limit. */
export interface Deadlined {
  /** When it is over, in milliseconds of `performance.now()`; infinite = not yet known. */
  deadline: number;
  /** Its place in the sweep; the sweep's own. */
  slot: number;
  /** Called at each sweep after the deadline, until it is removed. */
  expire(now: number): void;
  /** Called at each sweep; true when it ended without saying so. */
  isLost(): boolean;
  /** Called when it was lost. */
  lose(): void;
  /** Called when nobody can wait for it any longer. */
  cut(): void;
}

/**
 * Holds the calls under way and ends those past their deadline: one timer for all of them, so that a call costs no
 * timer of its own. A deadline is kept within `period` milliseconds.
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

  /** Does nothing when it is not there any more. */
  remove(entry: Deadlined): void {
    if (entry.slot < 0) return;
    const last = this.#entries.pop();
    if (last !== undefined && last !== entry) {
      this.#entries[entry.slot] = last;
      last.slot = entry.slot;
    }
    entry.slot = -1;
  }

  /** Cuts all that are under way. */
  cutAll(): void {
    // A copy: what is cut leaves, and the last takes its place.
    for (const entry of this.#entries.slice()) entry.cut();
  }

  #sweep(): void {
    if (this.#entries.length === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const now = this.#now();
    // Backwards: what is removed on the way is replaced by one that was seen already.
    for (let index = this.#entries.length - 1; index >= 0; index -= 1) {
      const entry = this.#entries[index];
      if (entry === undefined) continue;
      if (entry.isLost()) entry.lose();
      else if (entry.deadline <= now) entry.expire(now);
    }
  }
}
