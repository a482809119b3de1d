/** Longest time between two checks of a stream, milliseconds. */
const longestPeriod = 1_000;

/** Milliseconds between two checks of a stream whose idle timeout is `idle` milliseconds. */
export function idleCheckPeriod(idle: number): number {
  return Math.min(longestPeriod, idle / 10);
}

/**
 * Tells when a stream has carried no byte for `idle` milliseconds. Checks compare byte counts, so that a byte costs no
 * more than being counted. The timeout is noticed no earlier than after `idle` and at most two checks later.
 */
export class StreamIdle {
  readonly #idle: number;
  #bytes: number;
  #since: number;

  /** `bytes` have passed by `now`. */
  constructor(idle: number, bytes: number, now: number) {
    this.#idle = idle;
    this.#bytes = bytes;
    this.#since = now;
  }

  /** When to check again; undefined once the idle timeout has passed. */
  look(bytes: number, now: number): number | undefined {
    if (bytes !== this.#bytes) {
      this.#bytes = bytes;
      this.#since = now;
    }
    return now - this.#since < this.#idle ? now + idleCheckPeriod(this.#idle) : undefined;
  }
}
