/** Wakes waiters on changes of one thing among many, each identified by a key. */
export class WakeList {
  readonly #waiters = new Map<string, Set<() => void>>();

  /** Calls `wake` on each change of `key`; the returned function unsubscribes. */
  watch(key: string, wake: () => void): () => void {
    const waiters = this.#waiters.get(key) ?? new Set();
    this.#waiters.set(key, waiters);
    waiters.add(wake);
    return () => {
      waiters.delete(wake);
      if (waiters.size === 0 && this.#waiters.get(key) === waiters) this.#waiters.delete(key);
    };
  }

  /** Wakes the waiters of `key`. */
  wake(key: string): void {
    for (const wake of this.#waiters.get(key) ?? []) wake();
  }
}
