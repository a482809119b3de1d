import { EventEmitter } from "node:events";

import type { CallSignals } from "../../../runtime/core/ports/call-signals.ts";

/** Spreads word of calls within this process, a moment after it was given. */
export class MemoryCallSignals implements CallSignals {
  readonly #emitter = new EventEmitter().setMaxListeners(0);

  cancelled(id: string): void {
    this.#emit("cancelled", id);
  }

  ended(id: string): void {
    this.#emit("ended", id);
  }

  onCancelled(heard: (id: string) => void): () => void {
    return this.#on("cancelled", heard);
  }

  onEnded(heard: (id: string) => void): () => void {
    return this.#on("ended", heard);
  }

  #emit(what: string, id: string): void {
    queueMicrotask(() => this.#emitter.emit(what, id));
  }

  #on(what: string, heard: (id: string) => void): () => void {
    this.#emitter.on(what, heard);
    return () => this.#emitter.off(what, heard);
  }
}
