/** The slot that a call holds. */
export interface Slot {
  /** Frees the slot while its call continues detached; false, and the slot is kept, when no more calls may detach. */
  leave(): boolean;
  /** Aborts when detached calls must stop waiting. */
  readonly stop: AbortSignal;
}

/** Calls that continue without a slot: few at a time, as each may hold an output in memory. */
export class DetachedCalls {
  readonly #max: number;
  readonly #detached = new Set<Promise<void>>();
  readonly #stop = new AbortController();

  /** `max` is how many calls may be detached at once. */
  constructor(max: number) {
    this.#max = max;
  }

  /** From now on no call may leave its slot, and detached calls stop waiting. */
  stop(): void {
    this.#stop.abort();
  }

  /** Resolves when no call is detached. */
  async idle(): Promise<void> {
    while (this.#detached.size > 0) await Promise.all(this.#detached);
  }

  /** Runs `act`, which must not reject; resolves when its slot is free: `act` has ended or left it. */
  async inSlot(act: (slot: Slot) => Promise<void>): Promise<void> {
    const detached = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const leave = (): boolean => {
      if (this.#detached.has(ended.promise)) return true;
      if (this.#stop.signal.aborted || this.#detached.size >= this.#max) return false;
      this.#detached.add(ended.promise);
      detached.resolve();
      return true;
    };
    const running = act({ leave, stop: this.#stop.signal }).finally(() => {
      this.#detached.delete(ended.promise);
      ended.resolve();
    });
    await Promise.race([running, detached.promise]);
  }
}
