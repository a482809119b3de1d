import { probeFault } from "../core/replicas/probe-fault.ts";
import type { Prober } from "../core/ports/prober.ts";
import type { ProbePlan } from "./probe-plan.ts";

/** What a replica probe depends on. */
export interface ReplicaProbeParts {
  readonly prober: Prober;
  readonly address: string;
  /** The address has the port that functions get in `$PORT`. */
  readonly isFunctionPort: boolean;
  readonly plans: { readonly health: ProbePlan; readonly ready: ProbePlan };
  /** Called when `readySince`, `unready` or `unhealthy` changed. */
  readonly changed: () => void;
  readonly now: () => number;
}

/** Milliseconds without readiness after which `unready` says why. */
const unreadyAfter = 5_000;
const firstInterval = 1;
const longestInterval = 1_000;
/** Growth of the interval: readiness is noticed late by at most a fifth of the time it took. */
const growth = 1.25;

/** Probes one running replica for readiness and health until `close`. */
export class ReplicaProbe {
  readonly #parts: ReplicaProbeParts;
  readonly #timers = new Set<NodeJS.Timeout>();
  #closed = false;
  #readySince: number | undefined;
  #wasReady = false;
  #unready: string | undefined;
  #unhealthy: string | undefined;

  constructor(parts: ReplicaProbeParts) {
    this.#parts = parts;
    const { ready, health } = parts.plans;
    this.#after(ready.initialDelay, () => this.#awaitReady(firstInterval, this.#parts.now()));
    this.#after(health.initialDelay + health.period, () => this.#watchHealth(0));
  }

  /** Unix milliseconds since when its readiness probe passes; undefined while it does not. */
  get readySince(): number | undefined {
    return this.#readySince;
  }

  /** What its readiness probe shows, in words, once it has not been ready for 5 s. */
  get unready(): string | undefined {
    return this.#unready;
  }

  /** What its health probe shows, in words, once it failed as often in a row as the plan allows. */
  get unhealthy(): string | undefined {
    return this.#unhealthy;
  }

  close(): void {
    this.#closed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  async #awaitReady(interval: number, since: number): Promise<void> {
    const { ready } = this.#parts.plans;
    const fault = await this.#probe(ready);
    if (this.#closed) return;
    if (fault !== undefined) {
      if (this.#parts.now() - since >= unreadyAfter) this.#setUnready(fault);
      this.#after(interval, () => this.#awaitReady(Math.min(interval * growth, longestInterval), since));
      return;
    }
    this.#unready = undefined;
    this.#readySince = this.#parts.now();
    this.#wasReady = true;
    this.#parts.changed();
    this.#after(ready.period, () => this.#watchReady(0));
  }

  async #watchReady(failures: number): Promise<void> {
    const { ready } = this.#parts.plans;
    const failed = (await this.#probe(ready)) === undefined ? 0 : failures + 1;
    if (this.#closed) return;
    if (failed < ready.failureThreshold) {
      this.#after(ready.period, () => this.#watchReady(failed));
      return;
    }
    this.#readySince = undefined;
    this.#parts.changed();
    this.#after(firstInterval, () => this.#awaitReady(firstInterval, this.#parts.now()));
  }

  async #watchHealth(failures: number): Promise<void> {
    const { health } = this.#parts.plans;
    // A connection probe fails until the process listens; it shows a fault only once the process has been ready.
    if (health.path === undefined && !this.#wasReady) {
      this.#after(health.period, () => this.#watchHealth(0));
      return;
    }
    const fault = await this.#probe(health);
    const failed = fault === undefined ? 0 : failures + 1;
    if (this.#closed) return;
    if (failed < health.failureThreshold) {
      this.#after(health.period, () => this.#watchHealth(failed));
      return;
    }
    this.#unhealthy = fault;
    this.#parts.changed();
  }

  #setUnready(fault: string): void {
    if (fault === this.#unready) return;
    this.#unready = fault;
    this.#parts.changed();
  }

  /** The fault in words; undefined when the probe passed. */
  async #probe(plan: ProbePlan): Promise<string | undefined> {
    const { prober, address, isFunctionPort } = this.#parts;
    const result = await prober.probe(address, plan.path, plan.timeout, plan.protocol);
    return probeFault({ ...plan, address, isFunctionPort }, result);
  }

  #after(delay: number, step: () => Promise<void>): void {
    if (this.#closed) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      void step();
    }, delay);
    this.#timers.add(timer);
  }
}
