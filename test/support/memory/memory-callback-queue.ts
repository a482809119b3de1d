import { formatRef } from "../../../runtime/core/functions/function-ref.ts";
import type { DeliverySource, PutOutcome } from "../../../runtime/core/ports/call-queue.ts";
import type { CallbackQueue, QueuedCallback } from "../../../runtime/core/ports/callback-queue.ts";
import { MemoryWorkQueue, type WorkQueueOptions } from "./memory-work-queue.ts";

/** Keeps pending callbacks of all queues in this process. */
export class MemoryCallbackQueue implements CallbackQueue {
  readonly #queue: MemoryWorkQueue<QueuedCallback>;

  constructor(options: Omit<WorkQueueOptions, "queue">) {
    this.#queue = new MemoryWorkQueue({ ...options, queue: "callbacks" });
  }

  async put(callback: QueuedCallback, until: number): Promise<PutOutcome> {
    const raw = { headers: new Map([["Weir-Call", callback.id]]), body: new Uint8Array(0) };
    const id = `${callback.id}-${callback.redrives}`;
    const subject = `${callback.queue}.${formatRef(callback.function)}`;
    return this.#queue.put(structuredClone({ id, subject, content: { read: callback }, raw }), until);
  }

  /** Stores an entry that is not a callback, as the queue may contain one. */
  putUnreadable(headers: ReadonlyMap<string, string>, reason: string): void {
    const raw = { headers, body: new Uint8Array(0) };
    const item = { id: crypto.randomUUID(), subject: "", content: { unreadable: reason }, raw };
    this.#queue.put(item, Number.POSITIVE_INFINITY);
  }

  /** Deliveries of callbacks. */
  source(): DeliverySource<QueuedCallback> {
    return this.#queue;
  }

  /** Callbacks that are not acknowledged yet. */
  get size(): number {
    return this.#queue.size;
  }
}
