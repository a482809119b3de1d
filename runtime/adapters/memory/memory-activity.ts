import { EventEmitter } from "node:events";

import type { Activity, ActivityDelta } from "../../core/ports/activity.ts";

/** Spreads activity reports within this process, a moment after they were given. */
export class MemoryActivity implements Activity {
  readonly #emitter = new EventEmitter().setMaxListeners(0);

  publish(source: string, deltas: readonly ActivityDelta[]): void {
    const report = structuredClone(deltas);
    queueMicrotask(() => this.#emitter.emit("report", source, report));
  }

  subscribe(heard: (source: string, deltas: readonly ActivityDelta[]) => void): () => void {
    this.#emitter.on("report", heard);
    return () => this.#emitter.off("report", heard);
  }
}
