import { randomUUID } from "node:crypto";

import type { Leases } from "./ports/leases.ts";

/** Dependencies and timing of a leader election; durations in milliseconds. */
export interface LeadershipParts {
  readonly leases: Leases;
  /** Name of the lease; all processes that compete for it use the same. */
  readonly name: string;
  /** Time within which another process takes over from a leader that died. */
  readonly leaseTtl: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Resolves after `duration`, or when the signal aborts. */
  readonly pause: (duration: number, signal: AbortSignal) => Promise<unknown>;
  /** Called with true each time the lease is won, and with false before it can be won again. */
  readonly onChange: (leads: boolean) => void;
  /** Called with the error when the lease could not be requested. */
  readonly onError: (err: unknown) => void;
}

/**
 * Requests per `leaseTtl` while waiting. The lease lasts two waits less than `leaseTtl`, so that a waiting process has
 * it in time.
 */
const requestsPerTtl = 10;
/** Waits between two renewals: a store that takes 0.4 of `leaseTtl` to reply still renews in time. */
const renewEvery = 2;

/** Leader election by a lease. */
export class Leadership {
  readonly #parts: LeadershipParts;
  readonly #holder = randomUUID();
  #until = Number.NEGATIVE_INFINITY;
  #reported = false;
  #terms = 0;

  constructor(parts: LeadershipParts) {
    this.#parts = parts;
  }

  /** Whether this process is the leader now; ends by itself when the lease cannot be renewed. */
  get leads(): boolean {
    return this.#parts.now() < this.#until;
  }

  /**
   * Number of the current term, undefined while this process does not lead. Work that began and ended in the same term
   * was done as leader: a lease that expires ends the term, even if no other process acquired it.
   */
  get term(): number | undefined {
    return this.leads ? this.#terms : undefined;
  }

  /** Acquires the lease as soon as it is free and renews it until `stop` aborts, then releases it. */
  async run(stop: AbortSignal): Promise<void> {
    const { leases, name, leaseTtl, now, pause, onError: trouble } = this.#parts;
    const wait = leaseTtl / requestsPerTtl;
    const duration = leaseTtl - 2 * wait;
    while (!stop.aborted) {
      const requestedAt = now();
      try {
        const ours = await leases.acquire(name, this.#holder, duration);
        // Renewed too late: the lease was free for a while, and another process may have held it.
        if (!this.leads) this.#report(false);
        this.#until = ours ? requestedAt + duration : Number.NEGATIVE_INFINITY;
      } catch (err) {
        trouble(err);
      }
      this.#report(this.leads);
      const next = requestedAt + (this.#reported ? renewEvery : 1) * wait;
      await pause(Math.max(0, next - now()), stop);
    }
    this.#until = Number.NEGATIVE_INFINITY;
    await leases.release(name, this.#holder).catch(() => {});
  }

  #report(leads: boolean): void {
    if (leads === this.#reported) return;
    this.#reported = leads;
    if (leads) this.#terms += 1;
    this.#parts.onChange(leads);
  }
}
