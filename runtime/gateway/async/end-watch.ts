import type { CallSignals } from "../../core/ports/call-signals.ts";

/** Wakes those who wait for the end of a call; one subscription serves them all. */
export class EndWatch {
  readonly #waiters = new Map<string, Set<() => void>>();
  readonly #end: () => void;

  constructor(signals: CallSignals) {
    this.#end = signals.onEnded((id) => {
      for (const wake of this.#waiters.get(id) ?? []) wake();
    });
  }

  /** Calls `wake` each time word comes that the call ended; the returned function stops that. */
  watch(id: string, wake: () => void): () => void {
    const waiters = this.#waiters.get(id) ?? new Set();
    this.#waiters.set(id, waiters);
    waiters.add(wake);
    return () => {
      waiters.delete(wake);
      if (waiters.size === 0) this.#waiters.delete(id);
    };
  }

  close(): void {
    this.#end();
  }
}
