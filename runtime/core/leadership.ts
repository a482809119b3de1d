import { randomUUID } from "node:crypto";

import type { Leases } from "./ports/leases.ts";

/** What leadership works with; durations in milliseconds. */
export interface LeadershipParts {
  readonly leases: Leases;
  /** Of the lease: all that compete for it name the same. */
  readonly name: string;
  /** Time within which another takes over from one that died. */
  readonly leaseTtl: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Resolves after so long, or when the signal aborts. */
  readonly pause: (duration: number, signal: AbortSignal) => Promise<unknown>;
  /** Called with true each time the lease is won, and with false before it can be won again. */
  readonly changed: (leads: boolean) => void;
  /** The lease could not be asked for. */
  readonly trouble: (err: unknown) => void;
}

/** Looks per `leaseTtl`; the lease is shorter than that by two, so that who waits has it in time. */
const looks = 10;
/** Looks between two renewals: a store that takes 0.4 of `leaseTtl` to answer still renews in time. */
const renewEvery = 2;

/** Leader election: of several processes one acts. */
export class Leadership {
  readonly #parts: LeadershipParts;
  readonly #holder = randomUUID();
  #until = Number.NEGATIVE_INFINITY;
  #said = false;
  #terms = 0;

  constructor(parts: LeadershipParts) {
    this.#parts = parts;
  }

  /** Whether this one acts now; it ends by itself when the lease cannot be renewed. */
  get leads(): boolean {
    return this.#parts.now() < this.#until;
  }

  /**
   * Which of its terms it is in, undefined while it does not lead. What began and ended in the same term was done as
   * leader; a lease that ran out ends the term, even if nobody else took it.
   */
  get term(): number | undefined {
    return this.leads ? this.#terms : undefined;
  }

  /** Takes the lease as soon as it is free and keeps it until `stop` aborts; gives it back then. */
  async run(stop: AbortSignal): Promise<void> {
    const { leases, name, leaseTtl, now, pause, trouble } = this.#parts;
    const wait = leaseTtl / looks;
    const duration = leaseTtl - 2 * wait;
    while (!stop.aborted) {
      const asked = now();
      try {
        const ours = await leases.acquire(name, this.#holder, duration);
        // Renewed too late: it was free for a while, and may have been another's.
        if (!this.leads) this.#say(false);
        this.#until = ours ? asked + duration : Number.NEGATIVE_INFINITY;
      } catch (err) {
        trouble(err);
      }
      this.#say(this.leads);
      const next = asked + (this.#said ? renewEvery : 1) * wait;
      await pause(Math.max(0, next - now()), stop);
    }
    this.#until = Number.NEGATIVE_INFINITY;
    await leases.release(name, this.#holder).catch(() => {});
  }

  #say(leads: boolean): void {
    if (leads === this.#said) return;
    this.#said = leads;
    if (leads) this.#terms += 1;
    this.#parts.changed(leads);
  }
}
