/** Wakes those who wait for word of one thing among many; what each is known by is its key. */
export class WakeList {
  readonly #waiters = new Map<string, Set<() => void>>();

  /** Calls `wake` each time there is word of `key`; the returned function stops that. */
  watch(key: string, wake: () => void): () => void {
    const waiters = this.#waiters.get(key) ?? new Set();
    this.#waiters.set(key, waiters);
    waiters.add(wake);
    return () => {
      waiters.delete(wake);
      if (waiters.size === 0 && this.#waiters.get(key) === waiters) this.#waiters.delete(key);
    };
  }

  /** There is word of `key`. */
  wake(key: string): void {
    for (const wake of this.#waiters.get(key) ?? []) wake();
  }
}
