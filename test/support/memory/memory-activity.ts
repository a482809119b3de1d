import { EventEmitter } from "node:events";

import type { Activity, ActivityListener, ActivityReport } from "../../../runtime/core/ports/activity.ts";

/** Spreads activity reports within this process, a moment after they were given. */
export class MemoryActivity implements Activity {
  readonly #emitter = new EventEmitter().setMaxListeners(0);

  publish(report: ActivityReport): void {
    const copy = structuredClone(report);
    queueMicrotask(() => this.#emitter.emit("report", copy));
  }

  subscribe(heard: ActivityListener, except?: string): () => void {
    const hear = (report: ActivityReport): void => {
      if (report.source !== except) heard(report);
    };
    this.#emitter.on("report", hear);
    return () => this.#emitter.off("report", hear);
  }
}
