import type { CallSignals } from "../../../core/ports/call-signals.ts";
import { WakeList } from "../../../core/replicas/wake-list.ts";

/** Wakes waiters for the end of a call; one subscription serves all of them. */
export class EndWatch {
  readonly #waiters = new WakeList();
  readonly #unsubscribe: () => void;

  constructor(signals: CallSignals) {
    this.#unsubscribe = signals.onEnded((id) => this.#waiters.wake(id));
  }

  /** Calls `wake` each time the call's end is signalled; the returned function ends the watch. */
  watch(id: string, wake: () => void): () => void {
    return this.#waiters.watch(id, wake);
  }

  close(): void {
    this.#unsubscribe();
  }
}
