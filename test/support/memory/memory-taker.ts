import type { Delivery } from "../../../runtime/core/ports/call-queue.ts";

/** A consumer of a work queue, which handles at most as many deliveries at once as it has slots. */
export class MemoryTaker<T> {
  readonly #slots: number;
  readonly #handle: (delivery: Delivery<T>) => Promise<void>;
  readonly #onFree: () => void;
  readonly #mayAsk: () => boolean;
  #busy = 0;
  #stopped = false;
  #onIdle: () => void = () => {};

  constructor(
    slots: number,
    handle: (delivery: Delivery<T>) => Promise<void>,
    onFree: () => void,
    mayAsk: () => boolean = () => true,
  ) {
    this.#mayAsk = mayAsk;
    this.#slots = slots;
    this.#handle = handle;
    this.#onFree = onFree;
  }

  /** Number of free slots; 0 after the end and while `mayAsk` is false. */
  get free(): number {
    return this.#stopped || !this.#mayAsk() ? 0 : this.#slots - this.#busy;
  }

  /** Handles the delivery asynchronously, as if it came over a network; requeues it if the end came first. */
  hand(delivery: Delivery<T>): void {
    this.#busy++;
    queueMicrotask(() => {
      if (this.#stopped) {
        this.#release();
        delivery.requeue(0);
        return;
      }
      const release = () => this.#release();
      this.#handle(delivery).then(release, release);
    });
  }

  /** Resolves when `signal` aborts; from then on no slot is free. */
  async until(signal: AbortSignal): Promise<void> {
    if (!signal.aborted)
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    this.#stopped = true;
  }

  /** Resolves when nothing is being handled. */
  async idle(): Promise<void> {
    if (this.#busy > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
  }

  #release(): void {
    this.#busy--;
    if (this.#busy === 0) this.#onIdle();
    this.#onFree();
  }
}
