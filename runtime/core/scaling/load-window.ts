const slots = 10;
const recentSlots = 2;

/** How the load of one function is averaged; durations in milliseconds. */
export interface WindowShape {
  /** Time over which load is averaged. */
  readonly window: number;
  /** Newest time that is left out, as not every process has reported on it yet. */
  readonly lag: number;
}

/**
 * Averages over the last `window` milliseconds, with a resolution of a tenth of it: of events, spread over the time in
 * which they happened, and of a level that holds until it changes. Times are monotonic milliseconds and never go back.
 */
export class LoadWindow {
  readonly #width: number;
  readonly #skipped: number;
  readonly #sums: Float64Array;
  /** Number of the current slot. */
  #slot: number;
  #level = 0;
  #levelAt: number;

  constructor({ window, lag }: WindowShape, now: number) {
    this.#width = window / slots;
    this.#skipped = Math.ceil(lag / this.#width) + 1;
    this.#sums = new Float64Array(slots + this.#skipped);
    this.#slot = Math.floor(now / this.#width);
    this.#levelAt = now;
  }

  /** Adds events that happened between `from` and `now`, or what a level was higher then, in level × milliseconds. */
  add(amount: number, from: number, now: number): void {
    this.#advance(now);
    if (amount === 0) return;
    const begin = Math.max(Math.min(from, now), this.#oldest() * this.#width);
    this.#spread(amount, begin, now);
  }

  /** Sets the level from `now` on. */
  set(level: number, now: number): void {
    this.#advance(now);
    this.#level = level;
  }

  /** Average of the level, or events per millisecond. */
  average(now: number): number {
    return this.#mean(slots, now);
  }

  /** The same over the last fifth of the window. */
  recent(now: number): number {
    return this.#mean(recentSlots, now);
  }

  /** Milliseconds until a moment is no longer part of any average. */
  get span(): number {
    return this.#sums.length * this.#width;
  }

  #mean(count: number, now: number): number {
    this.#advance(now);
    const size = this.#sums.length;
    let sum = 0;
    for (let back = this.#skipped; back < this.#skipped + count; back++) {
      sum += this.#sums[(this.#slot - back + size) % size] ?? 0;
    }
    return sum / (count * this.#width);
  }

  #oldest(): number {
    return this.#slot - this.#sums.length + 1;
  }

  #advance(now: number): void {
    const slot = Math.floor(now / this.#width);
    if (slot > this.#slot) {
      const size = this.#sums.length;
      const fresh = Math.min(slot - this.#slot, size);
      for (let back = 0; back < fresh; back++) this.#sums[(slot - back) % size] = 0;
      this.#slot = slot;
    }
    if (this.#level > 0 && now > this.#levelAt) {
      const from = Math.max(this.#levelAt, this.#oldest() * this.#width);
      this.#spread(this.#level * (now - from), from, now);
    }
    this.#levelAt = now;
  }

  /** Distributes `amount` over the slots between two moments. */
  #spread(amount: number, from: number, to: number): void {
    const size = this.#sums.length;
    const last = Math.floor(to / this.#width);
    for (let slot = Math.floor(from / this.#width); slot <= last; slot++) {
      const part = Math.min(to, (slot + 1) * this.#width) - Math.max(from, slot * this.#width);
      const share = to > from ? part / (to - from) : 1;
      this.#sums[slot % size] = (this.#sums[slot % size] ?? 0) + amount * share;
    }
  }
}
