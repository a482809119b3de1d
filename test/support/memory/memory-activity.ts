import { EventEmitter } from "node:events";

import type { Activity, ActivityListener, ActivityReport } from "../../../runtime/core/ports/activity.ts";

/** Publishes activity reports within this process, asynchronously. */
export class MemoryActivity implements Activity {
  readonly #emitter = new EventEmitter().setMaxListeners(0);

  publish(report: ActivityReport): void {
    const copy = structuredClone(report);
    queueMicrotask(() => this.#emitter.emit("report", copy));
  }

  subscribe(listener: ActivityListener, except?: string): () => void {
    const forward = (report: ActivityReport): void => {
      if (report.source !== except) listener(report);
    };
    this.#emitter.on("report", forward);
    return () => this.#emitter.off("report", forward);
  }
}
