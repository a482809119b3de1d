import {
  decideRepair,
  recordWork,
  type RebuildReason,
  type RepairTimes,
  type WorkHistory,
} from "../core/queues/decide-repair.ts";
import type { QueueDeclaration } from "../core/ports/queue-catalog.ts";
import type { QueueStore, WorkState } from "../core/ports/queue-store.ts";
import type { Log } from "../process/log.ts";
import { callbacksName, type DoctorMetrics } from "./doctor-metrics.ts";

/** What a round of repairs works with. */
export interface RepairParts {
  readonly store: QueueStore;
  /** All declared queues. */
  readonly queues: readonly QueueDeclaration[];
  readonly times: RepairTimes;
  readonly metrics: DoctorMetrics;
  readonly log: Log;
}

/** Checks every store of calls and callbacks and repairs those that need it; keeps a history of its checks. */
export class RepairRound {
  readonly #parts: RepairParts;
  readonly #histories = new Map<string, WorkHistory>();

  constructor(parts: RepairParts) {
    this.#parts = parts;
  }

  /** One round; with `repairAll` every store is repaired for that reason. Rejects with `queue_unavailable`. */
  async go(repairAll: RebuildReason | undefined, stop: AbortSignal): Promise<void> {
    const { store, queues } = this.#parts;
    for (const state of await store.look(queues)) {
      const name = state.queue ?? callbacksName;
      this.#measure(name, state);
      this.#histories.set(name, recordWork(this.#histories.get(name), state, performance.now()));
      const because = repairAll ?? (await this.#reason(name, state));
      if (because !== undefined && !stop.aborted) await this.#rebuild(name, state, because, stop);
    }
  }

  async #reason(name: string, state: WorkState): Promise<RebuildReason | undefined> {
    const history = this.#histories.get(name);
    if (history === undefined) return undefined;
    const decision = decideRepair(state, history, performance.now(), this.#parts.times);
    switch (decision.action) {
      case "none":
        return undefined;
      case "rebuild":
        return decision.because;
      case "inspect":
        return (await this.#parts.store.countOverdue(state.queue)) > 0 ? "stalled" : undefined;
      default:
        return decision satisfies never;
    }
  }

  async #rebuild(name: string, state: WorkState, because: RebuildReason, stop: AbortSignal): Promise<void> {
    const { store, metrics, log } = this.#parts;
    log.warn(
      { queue: name, reason: because, orphans: state.orphans, unacknowledged: state.unanswered },
      "repairing a queue",
    );
    await store.rebuild(state.queue, stop);
    metrics.rebuilds.inc({ queue_name: name, reason: because });
    const now = performance.now();
    this.#histories.set(name, { orphanedSince: undefined, offers: 0, quietSince: now, rebuiltAt: now });
  }

  #measure(name: string, state: WorkState): void {
    const { orphans, oldest } = this.#parts.metrics;
    orphans.set({ queue_name: name }, state.orphans);
    const age = state.oldestAt === undefined ? 0 : Math.max(0, Date.now() - state.oldestAt) / 1_000;
    oldest.set({ queue_name: name }, age);
  }
}
