import type { CallSignals } from "../../../core/ports/call-signals.ts";
import { WakeList } from "../../../core/replicas/wake-list.ts";

/** Wakes those who wait for the end of a call; one subscription serves them all. */
export class EndWatch {
  readonly #waiters = new WakeList();
  readonly #end: () => void;

  constructor(signals: CallSignals) {
    this.#end = signals.onEnded((id) => this.#waiters.wake(id));
  }

  /** Calls `wake` each time word comes that the call ended; the returned function stops that. */
  watch(id: string, wake: () => void): () => void {
    return this.#waiters.watch(id, wake);
  }

  close(): void {
    this.#end();
  }
}
