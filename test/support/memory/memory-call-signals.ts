import { EventEmitter } from "node:events";

import type { CallSignals } from "../../../runtime/core/ports/call-signals.ts";

/** Sends signals of calls within this process, asynchronously. */
export class MemoryCallSignals implements CallSignals {
  readonly #emitter = new EventEmitter().setMaxListeners(0);

  cancelled(id: string): void {
    this.#emit("cancelled", id);
  }

  ended(id: string): void {
    this.#emit("ended", id);
  }

  onCancelled(listener: (id: string) => void): () => void {
    return this.#on("cancelled", listener);
  }

  onEnded(listener: (id: string) => void): () => void {
    return this.#on("ended", listener);
  }

  #emit(event: string, id: string): void {
    queueMicrotask(() => this.#emitter.emit(event, id));
  }

  #on(event: string, listener: (id: string) => void): () => void {
    this.#emitter.on(event, listener);
    return () => this.#emitter.off(event, listener);
  }
}
