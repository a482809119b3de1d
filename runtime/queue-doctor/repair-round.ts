import { decideRepair, rememberWork, type RebuildReason, type WorkMemory } from "../core/queues/decide-repair.ts";
import type { WorkState } from "../core/ports/queue-store.ts";
import type { QueueDoctorParts } from "./build-queue-doctor.ts";
import { callbacksName } from "./doctor-metrics.ts";

/** Looks at every store of calls and callbacks and mends those that need it; remembers the looks before. */
export class RepairRound {
  readonly #parts: Pick<QueueDoctorParts, "store" | "queues" | "times" | "metrics" | "log">;
  readonly #memory = new Map<string, WorkMemory>();

  constructor(parts: Pick<QueueDoctorParts, "store" | "queues" | "times" | "metrics" | "log">) {
    this.#parts = parts;
  }

  /** One round; with `mendAll` every store is mended for that reason. Rejects with `queue_unavailable`. */
  async go(mendAll: RebuildReason | undefined, stop: AbortSignal): Promise<void> {
    const { store, queues } = this.#parts;
    for (const state of await store.look(queues)) {
      const name = state.queue ?? callbacksName;
      this.#measure(name, state);
      this.#memory.set(name, rememberWork(this.#memory.get(name), state, performance.now()));
      const because = mendAll ?? (await this.#reason(name, state));
      if (because !== undefined && !stop.aborted) await this.#rebuild(name, state, because, stop);
    }
  }

  async #reason(name: string, state: WorkState): Promise<RebuildReason | undefined> {
    const memory = this.#memory.get(name);
    if (memory === undefined) return undefined;
    const decision = decideRepair(state, memory, performance.now(), this.#parts.times);
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
    log.warn({ queue: name, because, debris: state.debris, unanswered: state.unanswered }, "mending a queue");
    await store.rebuild(state.queue, stop);
    metrics.rebuilds.inc({ queue_name: name, reason: because });
    const now = performance.now();
    this.#memory.set(name, { debrisSince: undefined, offers: 0, quietSince: now, rebuiltAt: now });
  }

  #measure(name: string, state: WorkState): void {
    const { debris, oldest } = this.#parts.metrics;
    debris.set({ queue_name: name }, state.debris);
    const age = state.oldestAt === undefined ? 0 : Math.max(0, Date.now() - state.oldestAt) / 1_000;
    oldest.set({ queue_name: name }, age);
  }
}
