import { EventEmitter } from "node:events";

import type { Activity, ActivityListener, ActivityReport } from "../../core/ports/activity.ts";

/** Spreads activity reports within this process, a moment after they were given. */
export class MemoryActivity implements Activity {
  readonly #emitter = new EventEmitter().setMaxListeners(0);

  publish(report: ActivityReport): void {
    const copy = structuredClone(report);
    queueMicrotask(() => this.#emitter.emit("report", copy));
  }

  subscribe(heard: ActivityListener): () => void {
    this.#emitter.on("report", heard);
    return () => this.#emitter.off("report", heard);
  }
}
