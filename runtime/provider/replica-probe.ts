import type { Prober } from "../core/ports/prober.ts";
import type { ProbePlan } from "./probe-plan.ts";

/** What a replica probe works with. */
export interface ReplicaProbeParts {
  readonly prober: Prober;
  readonly address: string;
  readonly plans: { readonly health: ProbePlan; readonly ready: ProbePlan };
  /** Called when `ready` or `unhealthy` changed. */
  readonly changed: () => void;
  readonly now: () => number;
}

const firstInterval = 1;
const longestInterval = 1_000;
/** Readiness is heard of late by a fifth of the time it took, at most. */
const growth = 1.25;

/** Asks one running replica again and again whether it is ready and healthy, until `close`. */
export class ReplicaProbe {
  readonly #parts: ReplicaProbeParts;
  readonly #timers = new Set<NodeJS.Timeout>();
  #closed = false;
  #readySince: number | undefined;
  #wasReady = false;
  #unhealthy = false;

  constructor(parts: ReplicaProbeParts) {
    this.#parts = parts;
    const { ready, health } = parts.plans;
    this.#after(ready.initialDelay, () => this.#awaitReady(firstInterval));
    this.#after(health.initialDelay + health.period, () => this.#watchHealth(0));
  }

  /** Unix milliseconds since when it answers its readiness probe; undefined while it does not. */
  get readySince(): number | undefined {
    return this.#readySince;
  }

  /** It failed its health probe as often in a row as the plan allows. */
  get unhealthy(): boolean {
    return this.#unhealthy;
  }

  close(): void {
    this.#closed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  async #awaitReady(interval: number): Promise<void> {
    const { ready } = this.#parts.plans;
    if (!(await this.#ask(ready))) {
      this.#after(interval, () => this.#awaitReady(Math.min(interval * growth, longestInterval)));
      return;
    }
    if (this.#closed) return;
    this.#readySince = this.#parts.now();
    this.#wasReady = true;
    this.#parts.changed();
    this.#after(ready.period, () => this.#watchReady(0));
  }

  async #watchReady(failures: number): Promise<void> {
    const { ready } = this.#parts.plans;
    const failed = (await this.#ask(ready)) ? 0 : failures + 1;
    if (this.#closed) return;
    if (failed < ready.failureThreshold) {
      this.#after(ready.period, () => this.#watchReady(failed));
      return;
    }
    this.#readySince = undefined;
    this.#parts.changed();
    this.#after(firstInterval, () => this.#awaitReady(firstInterval));
  }

  async #watchHealth(failures: number): Promise<void> {
    const { health } = this.#parts.plans;
    // A connection says nothing of a process that has yet to listen; that it stopped to listen does.
    if (health.path === undefined && !this.#wasReady) {
      this.#after(health.period, () => this.#watchHealth(0));
      return;
    }
    const failed = (await this.#ask(health)) ? 0 : failures + 1;
    if (this.#closed) return;
    if (failed < health.failureThreshold) {
      this.#after(health.period, () => this.#watchHealth(failed));
      return;
    }
    this.#unhealthy = true;
    this.#parts.changed();
  }

  #ask(plan: ProbePlan): Promise<boolean> {
    return this.#parts.prober.probe(this.#parts.address, plan.path, plan.timeout, plan.protocol);
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
