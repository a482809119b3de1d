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
  readonly changed: (leads: boolean) => void;
  /** The lease could not be asked for. */
  readonly trouble: (err: unknown) => void;
}

/** Looks per `leaseTtl`; the lease is shorter than that by two, so that who waits has it in time. */
const looks = 5;

/** Sees to it that of several processes one acts. */
export class Leadership {
  readonly #parts: LeadershipParts;
  readonly #holder = randomUUID();
  #until = Number.NEGATIVE_INFINITY;
  #said = false;

  constructor(parts: LeadershipParts) {
    this.#parts = parts;
  }

  /** Whether this one acts now; it ends by itself when the lease cannot be renewed. */
  get leads(): boolean {
    return this.#parts.now() < this.#until;
  }

  /** Takes the lease as soon as it is free and keeps it until `stop` aborts; gives it back then. */
  async run(stop: AbortSignal): Promise<void> {
    const { leases, name, leaseTtl, now, pause, changed, trouble } = this.#parts;
    const wait = leaseTtl / looks;
    const duration = leaseTtl - 2 * wait;
    while (!stop.aborted) {
      const asked = now();
      try {
        const ours = await leases.acquire(name, this.#holder, duration);
        this.#until = ours ? asked + duration : Number.NEGATIVE_INFINITY;
      } catch (err) {
        trouble(err);
      }
      if (this.leads !== this.#said) changed(this.leads);
      this.#said = this.leads;
      await pause(wait, stop);
    }
    this.#until = Number.NEGATIVE_INFINITY;
    await leases.release(name, this.#holder).catch(() => {});
  }
}
