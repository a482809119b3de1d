import { formatRef } from "../../../runtime/core/functions/function-ref.ts";
import type { DeliverySource, PutOutcome } from "../../../runtime/core/ports/call-queue.ts";
import type { CallbackQueue, QueuedCallback } from "../../../runtime/core/ports/callback-queue.ts";
import { MemoryWorkQueue, type WorkQueueOptions } from "./memory-work-queue.ts";

/** Keeps owed callbacks of all queues in this process. */
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

  /** Puts what is no callback, as it may lie in the queue. */
  putUnreadable(headers: ReadonlyMap<string, string>, why: string): void {
    const raw = { headers, body: new Uint8Array(0) };
    const item = { id: crypto.randomUUID(), subject: "", content: { unreadable: why }, raw };
    this.#queue.put(item, Number.POSITIVE_INFINITY);
  }

  /** Where callbacks are taken. */
  source(): DeliverySource<QueuedCallback> {
    return this.#queue;
  }

  /** Callbacks that are not acknowledged yet. */
  get size(): number {
    return this.#queue.size;
  }
}
