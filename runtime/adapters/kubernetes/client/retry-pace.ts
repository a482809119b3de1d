import { setTimeout as pause } from "node:timers/promises";

/** How fast failed requests may be sent again. */
export interface PaceRules {
  /** Turns per second while nothing succeeds. */
  readonly perSecond: number;
  /** Turns available at once after a quiet time. */
  readonly burst: number;
}

/**
 * Rate limit that all retries of one client share, so that together they are not a storm. A retry that succeeds returns
 * its turn and adds another: once the server has recovered, all get through within moments.
 */
export class RetryPace {
  readonly #rules: PaceRules;
  readonly #now: () => number;
  /** Turns available; fractions count. */
  #turns: number;
  #countedAt: number;

  constructor(rules: PaceRules, now: () => number = () => performance.now()) {
    this.#rules = rules;
    this.#now = now;
    this.#turns = rules.burst;
    this.#countedAt = now();
  }

  /**
   * Resolves with true when it is the caller's turn, with false when that would take more than `longestWait`
   * milliseconds. Rejects with the reason of `signal` when that aborts first.
   */
  async turn(signal: AbortSignal | undefined, longestWait = Number.POSITIVE_INFINITY): Promise<boolean> {
    signal?.throwIfAborted();
    const until = this.#now() + longestWait;
    for (;;) {
      const now = this.#refill();
      if (this.#turns >= 1) break;
      const wait = Math.max(5, ((1 - this.#turns) / this.#rules.perSecond) * 1_000) * (1 + 0.25 * Math.random());
      if (now + wait > until) return false;
      await pause(wait, undefined, signal === undefined ? {} : { signal }).catch(() => signal?.throwIfAborted());
    }
    this.#turns -= 1;
    return true;
  }

  /** A request that had waited for its turn succeeded. */
  succeeded(): void {
    this.#turns = Math.min(this.#turns + 2, this.#rules.burst);
  }

  /** Adds the turns earned since the last call; returns the time now. */
  #refill(): number {
    const now = this.#now();
    const more = ((now - this.#countedAt) / 1_000) * this.#rules.perSecond;
    this.#turns = Math.min(this.#turns + more, this.#rules.burst);
    this.#countedAt = now;
    return now;
  }
}
