/** The slot that a call holds. */
export interface Slot {
  /** Frees the slot for others while its call goes on outside; false, and it is kept, when there is no room there. */
  leave(): boolean;
  /** Aborts when nothing may wait outside any more. */
  readonly stop: AbortSignal;
}

/** Where calls go on that hold no slot any more: few, as each may hold an output in memory. */
export class Aside {
  readonly #most: number;
  readonly #outside = new Set<Promise<void>>();
  readonly #stop = new AbortController();

  /** `most` is how many there may be at once. */
  constructor(most: number) {
    this.#most = most;
  }

  /** From now on none may leave its slot, and those outside wait no longer. */
  stop(): void {
    this.#stop.abort();
  }

  /** Resolves when none is outside. */
  async idle(): Promise<void> {
    while (this.#outside.size > 0) await Promise.all(this.#outside);
  }

  /** Does `act`, which must not reject; resolves when its slot is free: it is over, or has left. */
  async inSlot(act: (slot: Slot) => Promise<void>): Promise<void> {
    const left = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    const leave = (): boolean => {
      if (this.#outside.has(over.promise)) return true;
      if (this.#stop.signal.aborted || this.#outside.size >= this.#most) return false;
      this.#outside.add(over.promise);
      left.resolve();
      return true;
    };
    const going = act({ leave, stop: this.#stop.signal }).finally(() => {
      this.#outside.delete(over.promise);
      over.resolve();
    });
    await Promise.race([going, left.promise]);
  }
}
