/** Ticks over which calls per second are counted: reports of other processes come early or late by one. */
const span = 5;

/** When the last ticks were, for all rates of a list together. */
export class TickTimes {
  /** Milliseconds, oldest first. */
  readonly #times: number[] = [];

  add(now: number): void {
    this.#times.push(now);
    if (this.#times.length > span + 1) this.#times.shift();
  }

  /** Ticks that are known, with the last one. */
  get count(): number {
    return this.#times.length;
  }

  /** Seconds from the tick `back` ticks ago to the last one. */
  secondsSince(back: number): number {
    const { length } = this.#times;
    const from = this.#times[length - 1 - back] ?? 0;
    return ((this.#times[length - 1] ?? 0) - from) / 1_000;
  }
}

/** How fast a count grows. A count that stands still costs one comparison a tick. */
export class TickRate {
  #last: number;
  /** The count at the last ticks, oldest first; undefined while it stands still. */
  #counts: number[] | undefined;

  constructor(count: number) {
    this.#last = count;
  }

  /** Per second over the last ticks; `times` already has this one. A count that begins anew is 0 for this tick. */
  next(count: number, times: TickTimes): number {
    if (count === this.#last && this.#counts === undefined) return 0;
    const begins = count < this.#last;
    const before = begins ? count : this.#last;
    // While it stood still, it was the same at each tick.
    if (begins || this.#counts === undefined) this.#counts = Array.from({ length: times.count - 1 }, () => before);
    const counts = this.#counts;
    while (counts.length > times.count - 1) counts.shift();
    const [oldest = count] = counts;
    const seconds = times.secondsSince(counts.length);
    counts.push(count);
    this.#last = count;
    if (oldest === count) this.#counts = undefined;
    return seconds > 0 ? rounded((count - oldest) / seconds) : 0;
  }
}

/** Two digits that count, so that a list does not flicker. */
function rounded(rate: number): number {
  if (rate >= 10) return Math.round(rate);
  return Math.round(rate * 10) / 10;
}
