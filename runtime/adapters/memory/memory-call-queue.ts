import type { QueuedCall } from "../../core/call.ts";
import type { CallQueue, DeliverySource, PutOutcome } from "../../core/ports/call-queue.ts";
import { formatRef } from "../../core/function-ref.ts";
import { MemoryWorkQueue, type WorkQueueOptions } from "./memory-work-queue.ts";

/** Keeps queued calls in this process, in queues that come into being when they are first used. */
export class MemoryCallQueue implements CallQueue {
  readonly #options: Omit<WorkQueueOptions, "queue">;
  readonly #queues = new Map<string, MemoryWorkQueue<QueuedCall>>();

  constructor(options: Omit<WorkQueueOptions, "queue">) {
    this.#options = options;
  }

  async put(call: QueuedCall, until: number): Promise<PutOutcome> {
    const raw = { headers: new Map([["Weir-Call", call.id]]), body: call.body };
    const item = { id: call.id, subject: formatRef(call.function), content: { read: call }, raw };
    return this.#queue(call.queue).put(structuredClone(item), until);
  }

  /** Puts what is no call, as it may lie in a queue. */
  putUnreadable(
    queue: string,
    raw: { readonly headers: ReadonlyMap<string, string>; readonly body: Uint8Array },
    why: string,
  ): void {
    const id = raw.headers.get("Weir-Call") ?? crypto.randomUUID();
    this.#queue(queue).put({ id, subject: "", content: { unreadable: why }, raw }, Number.POSITIVE_INFINITY);
  }

  /** Where calls of `queue` are taken. */
  source(queue: string): DeliverySource<QueuedCall> {
    return this.#queue(queue);
  }

  /** Calls of `queue` that are not acknowledged yet. */
  size(queue: string): number {
    return this.#queues.get(queue)?.size ?? 0;
  }

  #queue(queue: string): MemoryWorkQueue<QueuedCall> {
    let found = this.#queues.get(queue);
    if (found === undefined) {
      found = new MemoryWorkQueue({ ...this.#options, queue });
      this.#queues.set(queue, found);
    }
    return found;
  }
}
