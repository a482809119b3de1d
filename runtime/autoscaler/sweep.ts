import { applyHeld, applyScale } from "../core/scaling/apply-scale.ts";
import type { ScaleDecision } from "../core/scaling/decide-scale.ts";
import type { DesiredFunction } from "../core/functions/desired-function.ts";
import type { FunctionStore } from "../core/ports/function-store.ts";
import type { QueueStates } from "../core/ports/queue-states.ts";
import type { HeldNote, HeldReplicas } from "../core/scaling/held-back.ts";
import type { ScalePlan, Scaler } from "../core/scaling/scaler.ts";
import type { Log } from "../process/log.ts";
import { tellDecisions, type AutoscalerMetrics } from "./autoscaler-metrics.ts";
import type { CpuSamples } from "./cpu-samples.ts";
import type { Leadership } from "../core/leadership.ts";

interface Change extends ScalePlan {
  readonly decision: ScaleDecision & { readonly action: "scale" };
}

/** What a sweep works with. */
export interface SweepParts {
  readonly scaler: Scaler;
  readonly held: HeldReplicas;
  readonly functions: FunctionStore;
  readonly states: QueueStates;
  readonly samples: CpuSamples;
  readonly leadership: Pick<Leadership, "leads">;
  readonly metrics: AutoscalerMetrics;
  readonly log: Log;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** Decides about all functions, one pass at a time, and acts if this autoscaler is the leader. */
export class Sweep {
  readonly #parts: SweepParts;
  /** Which reports are missing, so that it is logged once; empty = none, undefined = never complete so far. */
  #missing: string | undefined;
  #queuesUnknown = false;

  constructor(parts: SweepParts) {
    this.#parts = parts;
  }

  /** One pass. It never rejects: what failed is decided again in the next pass. */
  async go(): Promise<void> {
    const { held, metrics, now } = this.#parts;
    const startedAt = now();
    this.#settle();
    await this.#observe();
    const changes = this.#decide(now());
    const notes = held.take();
    await this.#act(changes, notes);
    metrics.sweep.set((now() - startedAt) / 1_000);
  }

  /** Decides about every function; returns what is to be changed. */
  #decide(at: number): readonly Change[] {
    const { scaler, held, metrics } = this.#parts;
    const counts = new Map<string, number>();
    const changes: Change[] = [];
    const wallClock = Date.now();
    for (const plan of scaler.plans(at, wallClock)) {
      const { wanted, rules, decision } = plan;
      counts.set(decision.because, (counts.get(decision.because) ?? 0) + 1);
      held.see(plan, at, wallClock);
      if (decision.action === "scale") changes.push({ wanted, rules, decision });
    }
    tellDecisions(metrics, counts);
    return changes;
  }

  /** Applies the changes, as long as this one leads and the store is available. */
  async #act(changes: readonly Change[], notes: readonly HeldNote[]): Promise<void> {
    const { leadership } = this.#parts;
    for (const { wanted, decision } of changes) {
      if (!leadership.leads || !(await this.#change(wanted, decision))) return;
    }
    for (const note of notes) if (!leadership.leads || !(await this.#note(note))) return;
  }

  /** False when the store is unavailable. */
  async #note({ wanted, held }: HeldNote): Promise<boolean> {
    const { functions, log } = this.#parts;
    const facts = { functionName: wanted.name, namespace: wanted.namespace, replicas: wanted.replicas };
    try {
      if (!(await applyHeld(functions, wanted, held)) || held === undefined) return true;
      log.info({ ...facts, reason: held.reason, detail: held.message }, "kept");
      return true;
    } catch (err) {
      log.warn({ err, ...facts }, "cannot note why replicas are kept, trying again");
      return false;
    }
  }

  #settle(): void {
    const { scaler, log, now } = this.#parts;
    for (const source of scaler.settle(now()))
      log.warn({ source }, "a reporter was silent for too long and is ignored from now on");
    const reports = scaler.coverage(now());
    if (reports.kind === "complete") this.#missing = "";
    else if (this.#missing === "") {
      log.warn({ missing: reports.message }, "activity reports are missing, no replicas are removed");
      this.#missing = reports.message;
    }
  }

  /** Reads queue depths and requests processor times; only the leader needs them. */
  async #observe(): Promise<void> {
    const { scaler, states, samples, leadership, log, now } = this.#parts;
    if (!leadership.leads) return scaler.count(undefined, now());
    const { cpu, queues } = scaler.needs();
    samples.ask(cpu);
    try {
      const found = await Promise.all(queues.map((queue) => states.depths(queue)));
      const depths = new Map<string, number>();
      for (const { byFunction } of found) {
        for (const [key, calls] of byFunction) depths.set(key, (depths.get(key) ?? 0) + calls);
      }
      scaler.count(depths, now());
      this.#queuesUnknown = false;
    } catch (err) {
      scaler.count(undefined, now());
      if (!this.#queuesUnknown) log.warn({ err }, "cannot read the queue depths");
      this.#queuesUnknown = true;
    }
  }

  /** False when the store is unavailable. */
  async #change(wanted: DesiredFunction, decision: Change["decision"]): Promise<boolean> {
    const { functions, metrics, log } = this.#parts;
    const facts = { functionName: wanted.name, namespace: wanted.namespace, from: wanted.replicas };
    const { replicas, because: reason, message: detail } = decision;
    try {
      if (await applyScale(functions, wanted, decision)) {
        metrics.changes.inc({ reason });
        log.info({ ...facts, replicas, reason, detail }, "scaled");
      }
      return true;
    } catch (err) {
      log.warn({ err, ...facts, replicas, reason }, "cannot scale, trying again");
      return false;
    }
  }
}
