import { setTimeout as pause } from "node:timers/promises";

/** How many requests may follow a failed one. */
export interface PaceRules {
  /** Turns a second while nothing succeeds. */
  readonly perSecond: number;
  /** Turns that may be taken at once after a quiet time. */
  readonly burst: number;
}

/**
 * Spaces out what all users of one client ask again, so that many of them together are no storm. A request that
 * succeeds gives back its turn and one more: when the server is well again all are through in a moment.
 */
export class RetryPace {
  readonly #rules: PaceRules;
  readonly #now: () => number;
  /** Turns that are left. */
  #left: number;
  #countedAt: number;

  constructor(rules: PaceRules, now: () => number = () => performance.now()) {
    this.#rules = rules;
    this.#now = now;
    this.#left = rules.burst;
    this.#countedAt = now();
  }

  /**
   * Resolves with true when it is this one's turn, with false when that would not be within `patience` milliseconds.
   * Rejects with the reason of `signal` when that comes first.
   */
  async turn(signal: AbortSignal | undefined, patience = Number.POSITIVE_INFINITY): Promise<boolean> {
    signal?.throwIfAborted();
    const until = this.#now() + patience;
    for (;;) {
      const now = this.#count();
      if (this.#left >= 1) break;
      const wait = Math.max(5, ((1 - this.#left) / this.#rules.perSecond) * 1_000) * (1 + 0.25 * Math.random());
      if (now + wait > until) return false;
      await pause(wait, undefined, signal === undefined ? {} : { signal }).catch(() => signal?.throwIfAborted());
    }
    this.#left -= 1;
    return true;
  }

  /** A request that had waited for its turn did what it should. */
  succeeded(): void {
    this.#left = Math.min(this.#left + 2, this.#rules.burst);
  }

  /** The time until which turns are counted: now. */
  #count(): number {
    const now = this.#now();
    const more = ((now - this.#countedAt) / 1_000) * this.#rules.perSecond;
    this.#left = Math.min(this.#left + more, this.#rules.burst);
    this.#countedAt = now;
    return now;
  }
}
