import type { QueuedCall } from "../../../runtime/core/calls/call.ts";
import type { CallQueue, DeliverySource, PutOutcome } from "../../../runtime/core/ports/call-queue.ts";
import type { QueueDepths, QueueState, QueueStates } from "../../../runtime/core/ports/queue-states.ts";
import { formatRef } from "../../../runtime/core/functions/function-ref.ts";
import { MemoryWorkQueue, type WorkQueueOptions } from "./memory-work-queue.ts";

const encoded = "Memory-Call";

/** How a memory queue stores a call. */
export function encodeCall(call: QueuedCall): {
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
} {
  const { body, ...rest } = call;
  const text = JSON.stringify({ ...rest, start: rest.start.toString() });
  return { headers: new Map([["Weir-Call", call.id]]).set(encoded, text), body };
}

/** Inverse of `encodeCall`; undefined for anything else. */
export function decodeCall(headers: ReadonlyMap<string, string>, body: Uint8Array): QueuedCall | undefined {
  const text = headers.get(encoded);
  if (text === undefined) return undefined;
  const rest: Omit<QueuedCall, "start" | "body"> & { readonly start: string } = JSON.parse(text);
  // JSON loses undefined fields, which a call states explicitly.
  const absent = { query: undefined, callbackUrl: undefined, parentId: undefined };
  return { ...absent, ...rest, start: BigInt(rest.start), body };
}

/** Keeps queued calls in this process, in queues that are created when they are first used. */
export class MemoryCallQueue implements CallQueue, QueueStates {
  readonly #options: Omit<WorkQueueOptions, "queue">;
  readonly #queues = new Map<string, MemoryWorkQueue<QueuedCall>>();

  constructor(options: Omit<WorkQueueOptions, "queue">) {
    this.#options = options;
  }

  async put(call: QueuedCall, until: number, redrives = 0, _isAbandoned?: () => boolean): Promise<PutOutcome> {
    const id = redrives === 0 ? call.id : `${call.id}.${redrives}`;
    const item = { id, subject: formatRef(call.function), content: { read: call }, raw: encodeCall(call) };
    return this.#queue(call.queue).put(structuredClone(item), until);
  }

  /** Stores an entry that is not a call, as a queue may contain one. */
  putUnreadable(
    queue: string,
    raw: { readonly headers: ReadonlyMap<string, string>; readonly body: Uint8Array },
    reason: string,
  ): void {
    const id = raw.headers.get("Weir-Call") ?? crypto.randomUUID();
    this.#queue(queue).put({ id, subject: "", content: { unreadable: reason }, raw }, Number.POSITIVE_INFINITY);
  }

  /** Deliveries of `queue`. */
  source(queue: string): DeliverySource<QueuedCall> {
    return this.#queue(queue);
  }

  /** Calls of `queue` that are not acknowledged yet. */
  size(queue: string): number {
    return this.#queues.get(queue)?.size ?? 0;
  }

  async read(queue: string): Promise<QueueState | undefined> {
    return this.#queues.get(queue)?.state();
  }

  async depths(queue: string): Promise<QueueDepths> {
    return this.#queues.get(queue)?.depths() ?? { byFunction: new Map(), submitted: 0 };
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
