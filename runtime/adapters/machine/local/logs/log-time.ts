/** Gives each log line a unique time, which shows their order. */
export class LogClock {
  readonly #now: () => number;
  #last = 0n;

  /** `now` in Unix milliseconds. */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** RFC 3339 with nanoseconds, later than the one before. */
  next(): string {
    const nanos = BigInt(this.#now()) * 1_000_000n;
    this.#last = nanos > this.#last ? nanos : this.#last + 1n;
    const seconds = new Date(Number(this.#last / 1_000_000n)).toISOString().slice(0, 19);
    return `${seconds}.${(this.#last % 1_000_000_000n).toString().padStart(9, "0")}Z`;
  }
}
