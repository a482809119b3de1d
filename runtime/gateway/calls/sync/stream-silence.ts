/** Longest time between two looks at a stream, milliseconds. */
const longestPeriod = 1_000;

/** Milliseconds between two looks at a stream that may be silent for `idle` milliseconds. */
export function silencePeriod(idle: number): number {
  return Math.min(longestPeriod, idle / 10);
}

/**
 * Tells when a stream has carried nothing for `idle` milliseconds. Each look compares counts of bytes, so that a byte costs
 * nothing beyond being counted; silence is noticed no sooner than `idle` and at most two looks later.
 */
export class StreamSilence {
  readonly #idle: number;
  #bytes: number;
  #since: number;

  /** `bytes` passed until now. */
  constructor(idle: number, bytes: number, now: number) {
    this.#idle = idle;
    this.#bytes = bytes;
    this.#since = now;
  }

  /** When to look again; undefined once it was silent for too long. */
  look(bytes: number, now: number): number | undefined {
    if (bytes !== this.#bytes) {
      this.#bytes = bytes;
      this.#since = now;
    }
    return now - this.#since < this.#idle ? now + silencePeriod(this.#idle) : undefined;
  }
}
