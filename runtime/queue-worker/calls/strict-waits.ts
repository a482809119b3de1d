/** Longest delay of a timer of Node.js, milliseconds; a longer one fires at once. */
const longestTimer = 2 ** 31 - 1;

/** Calls at the head of a strict queue that a worker keeps until they are due. */
export class StrictWaits {
  readonly #waits = new Map<string, () => void>();
  #stopped = false;

  get stopped(): boolean {
    return this.#stopped;
  }

  /**
   * Resolves after `delay` milliseconds or 24 days, when `lost` aborts, when it is woken, or when waiting was stopped:
   * the caller looks again at what the call waits for.
   */
  async wait(id: string, delay: number, lost: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.min(delay, longestTimer));
      const wake = (): void => {
        clearTimeout(timer);
        resolve();
      };
      this.#waits.set(id, wake);
      lost.addEventListener("abort", wake, { once: true });
      if (this.#stopped || lost.aborted) wake();
    });
    this.#waits.delete(id);
  }

  /** Ends the wait of a call, if it waits. */
  wake(id: string): void {
    this.#waits.get(id)?.();
  }

  /** Ends all waits, including later ones. */
  stop(): void {
    this.#stopped = true;
    for (const wake of this.#waits.values()) wake();
  }
}
