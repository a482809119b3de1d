import { PlatformError } from "../../../api/platform-error.ts";
import { named, publicly } from "../../../api/public-sentence.ts";

export interface AcceptanceLimits {
  /** Most calls that may wait for the broker at a time. */
  readonly maxCalls: number;
  /** Most bytes that their bodies may take together, with those of `bytesElsewhere`. */
  readonly maxBytes: number;
  /** Bytes of calls that wait for something else. */
  readonly bytesElsewhere?: () => number;
}

/** Milliseconds after which an acceptance shows that the broker does not keep up; before, any number may be under way. */
const slowAfter = 1_000;

interface Acceptance {
  readonly began: number;
  readonly bytes: number;
}

/**
 * The calls that wait until the broker has stored them. While it elects a leader they add up, and each holds its body:
 * beyond the limits further calls are refused at once.
 */
export class Acceptances {
  readonly #limits: AcceptanceLimits;
  readonly #now: () => number;
  /** In the order in which they began. */
  readonly #waiting = new Set<Acceptance>();
  #bytes = 0;

  constructor(limits: AcceptanceLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Bytes of the calls that wait. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @throws PlatformError `queue_unavailable` when a call with these bytes would be too much */
  check(id: string, bytes: number): void {
    const { maxCalls, maxBytes, bytesElsewhere = () => 0 } = this.#limits;
    const calls = this.#waiting.size;
    if (calls < maxCalls && this.#bytes + bytesElsewhere() + bytes <= maxBytes) return;
    const [oldest] = this.#waiting;
    if (oldest === undefined || this.#now() - oldest.began < slowAfter) return;
    const what = calls < maxCalls ? publicly`${calls} calls with ${this.#bytes} bytes` : publicly`${calls} calls`;
    throw new PlatformError(
      "queue_unavailable",
      publicly`Cannot queue call ${named(id)}: ${what} wait for the queue already; send it again later`,
      { callQueued: "no", callId: id, retryAfterSeconds: 1 },
    );
  }

  /**
   * Counts a call until the returned function is called.
   * @throws PlatformError as `check`
   */
  begin(id: string, bytes: number): () => void {
    this.check(id, bytes);
    const acceptance = { began: this.#now(), bytes };
    this.#waiting.add(acceptance);
    this.#bytes += bytes;
    return () => {
      if (this.#waiting.delete(acceptance)) this.#bytes -= bytes;
    };
  }
}
