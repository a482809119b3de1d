import { describe, expect, test } from "vitest";

import type { QueuedCall } from "../../runtime/core/calls/call.ts";
import type { CallQueue, Delivery, DeliverySource } from "../../runtime/core/ports/call-queue.ts";
import { eventually } from "../support/eventually.ts";
import { plain, sampleCall, soon } from "./samples.ts";

/** An empty queue named `queue` for one test. */
export interface OpenCallQueue {
  readonly calls: CallQueue;
  readonly queue: string;
  /** A further consumer of the queue with each call, as another worker would be. */
  source(): DeliverySource<QueuedCall>;
  /** Lease in milliseconds. */
  readonly ackWait: number;
  /** Most calls that the queue stores. */
  readonly maxLength: number;
  /** Bytes of a body that is refused. */
  readonly tooLarge: number;
  close(): Promise<void>;
}

/** A worker whose deliveries a test settles one by one. */
export class TestTaker {
  readonly taken: Delivery<QueuedCall>[] = [];
  readonly #free = new Map<Delivery<QueuedCall>, () => void>();
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;
  most = 0;

  constructor(source: DeliverySource<QueuedCall>, slots: number) {
    this.#ended = source.take(
      slots,
      (delivery) =>
        new Promise((resolve) => {
          this.taken.push(delivery);
          this.#free.set(delivery, resolve);
          this.most = Math.max(this.most, this.#free.size);
        }),
      this.#stop.signal,
    );
  }

  get ids(): string[] {
    return this.taken.map(idOf);
  }

  /** The `n`-th delivery, counted from 0. */
  async nth(n: number, within = 10_000): Promise<Delivery<QueuedCall>> {
    return eventually(() => this.taken[n], { within, what: `delivery ${n}` });
  }

  /** Frees the slot. */
  release(delivery: Delivery<QueuedCall>): void {
    this.#free.get(delivery)?.();
    this.#free.delete(delivery);
  }

  async finish(delivery: Delivery<QueuedCall>): Promise<void> {
    expect(await delivery.acknowledge()).toBe(true);
    this.release(delivery);
  }

  abort(): void {
    this.#stop.abort();
  }

  /** Stops, frees all slots and waits for the end. */
  async end(): Promise<void> {
    this.#stop.abort();
    for (const delivery of this.#free.keys()) this.release(delivery);
    await this.#ended;
  }

  get ended(): Promise<void> {
    return this.#ended;
  }
}

export function idOf(delivery: Delivery<QueuedCall>): string {
  return "read" in delivery.content ? delivery.content.read.id : "";
}

/** What every pair of `CallQueue` and `DeliverySource` must do. */
export function callQueueContract(open: () => Promise<OpenCallQueue>): void {
  const withQueue =
    (act: (queue: OpenCallQueue, worker: (slots: number) => TestTaker) => Promise<void>) => async (): Promise<void> => {
      const queue = await open();
      const workers: TestTaker[] = [];
      try {
        await act(queue, (slots) => {
          const worker = new TestTaker(queue.source(), slots);
          workers.push(worker);
          return worker;
        });
      } finally {
        await Promise.all(workers.map((worker) => worker.end()));
        await queue.close();
      }
    };
  const put = async (queue: OpenCallQueue, over: Partial<QueuedCall> = {}): Promise<string> => {
    const call = sampleCall({ queue: queue.queue, ...over });
    expect(await queue.calls.put(call, soon())).toEqual({ kind: "stored" });
    return call.id;
  };
  const putSome = async (queue: OpenCallQueue, count: number): Promise<string[]> => {
    const ids: string[] = [];
    for (let n = 0; n < count; n++) ids.push(await put(queue));
    return ids;
  };

  describe("put", () => {
    test(
      "keeps the whole call",
      withQueue(async (queue, take) => {
        const calls = [
          sampleCall({ queue: queue.queue }),
          sampleCall({
            queue: queue.queue,
            path: "",
            query: undefined,
            callbackUrl: undefined,
            parentId: "6b1f7f6e-40a5-4a0e-9a53-3ad9f7a7f0d1",
            headers: [],
            body: Buffer.alloc(0),
            depth: 15,
          }),
          sampleCall({ queue: queue.queue, query: "" }),
        ];
        const before = Date.now();
        for (const call of calls) expect(await queue.calls.put(call, soon())).toEqual({ kind: "stored" });
        const worker = take(3);
        for (const [n, call] of calls.entries()) {
          const { content, queue: name, storedAt, deliveredAt } = await worker.nth(n);
          if ("unreadable" in content) expect.fail(content.unreadable);
          expect(plain(content.read)).toEqual(plain(call));
          expect(name).toBe(queue.queue);
          expect(storedAt).toBeGreaterThan(before - 1_000);
          expect(storedAt).toBeLessThan(Date.now() + 1_000);
          expect(deliveredAt).toBeLessThanOrEqual(performance.now());
        }
        expect(worker.taken[0]?.sequence).toBeLessThan(worker.taken[1]?.sequence ?? 0);
      }),
    );

    test(
      "stores the same id once, also after it was acknowledged",
      withQueue(async (queue, take) => {
        const call = sampleCall({ queue: queue.queue });
        for (let n = 0; n < 3; n++) expect(await queue.calls.put(call, soon())).toEqual({ kind: "stored" });
        const worker = take(2);
        await worker.finish(await worker.nth(0));
        expect(await queue.calls.put(call, soon())).toEqual({ kind: "stored" });
        const other = await put(queue);
        expect(idOf(await worker.nth(1))).toBe(other);
        expect(worker.ids).toEqual([call.id, other]);
      }),
    );

    test(
      "refuses calls when the queue is full, and stores them again when there is room",
      withQueue(async (queue, take) => {
        await putSome(queue, queue.maxLength);
        const call = sampleCall({ queue: queue.queue });
        expect(await queue.calls.put(call, soon())).toMatchObject({ kind: "refused", because: "full" });
        const worker = take(1);
        await worker.finish(await worker.nth(0));
        expect(await queue.calls.put(call, soon())).toEqual({ kind: "stored" });
      }),
    );

    test(
      "refuses a call that is too large",
      withQueue(async (queue) => {
        const call = sampleCall({ queue: queue.queue, body: Buffer.alloc(queue.tooLarge) });
        expect(await queue.calls.put(call, soon())).toMatchObject({ kind: "refused", because: "too-large" });
      }),
    );

    test(
      "does nothing after its deadline",
      withQueue(async (queue, take) => {
        expect(await queue.calls.put(sampleCall({ queue: queue.queue }), performance.now() - 1)).toMatchObject({
          kind: "refused",
          because: "unavailable",
        });
        const id = await put(queue);
        expect(idOf(await take(1).nth(0))).toBe(id);
      }),
    );
  });

  describe("take", () => {
    test(
      "delivers calls in the order they were put",
      withQueue(async (queue, take) => {
        const ids = await putSome(queue, 5);
        const worker = take(1);
        for (let n = 0; n < 5; n++) await worker.finish(await worker.nth(n));
        expect(worker.ids).toEqual(ids);
        expect(worker.most).toBe(1);
      }),
    );

    test(
      "waits for calls that are put later",
      withQueue(async (queue, take) => {
        const worker = take(1);
        const first = await put(queue);
        await worker.finish(await worker.nth(0));
        const second = await put(queue);
        await worker.nth(1);
        expect(worker.ids).toEqual([first, second]);
      }),
    );

    test(
      "never has more deliveries than slots",
      withQueue(async (queue, take) => {
        const ids = await putSome(queue, queue.maxLength);
        const worker = take(2);
        for (let n = 0; n < ids.length; n++) await worker.finish(await worker.nth(n));
        expect(worker.ids.toSorted()).toEqual(ids.toSorted());
        expect(worker.most).toBeLessThanOrEqual(2);
      }),
    );

    test(
      "redelivers what was not acknowledged within the lease, before new calls",
      withQueue(async (queue, take) => {
        const [first, second, third] = await putSome(queue, 3);
        const dead = take(1);
        const delivery = await dead.nth(0);
        const worker = take(1);
        await worker.finish(await worker.nth(0));
        const again = await worker.nth(1);
        expect(idOf(again)).toBe(third);
        await eventually(() => performance.now() > delivery.deliveredAt + queue.ackWait + 300, {
          what: "the lease to be over",
        });
        const last = await put(queue);
        await worker.finish(again);
        await worker.finish(await worker.nth(2));
        await worker.nth(3);
        expect(worker.ids).toEqual([second, third, first, last]);
        expect(worker.taken[2]?.sequence).toBe(delivery.sequence);
        expect((worker.taken[2]?.deliveredAt ?? 0) - delivery.deliveredAt).toBeGreaterThan(0.9 * queue.ackWait);
      }),
    );

    test(
      "keeps a call for whoever extends the lease",
      withQueue(async (queue, take) => {
        const [first] = await putSome(queue, 1);
        const owner = take(1);
        const delivery = await owner.nth(0);
        const other = take(1);
        const end = performance.now() + 2.5 * queue.ackWait;
        const extended = new Set<boolean>();
        await eventually(
          () => {
            extended.add(delivery.extend());
            return performance.now() > end;
          },
          { within: 30_000, every: queue.ackWait / 4, what: "several leases" },
        );
        expect([...extended]).toEqual([true]);
        expect(other.taken).toEqual([]);
        expect(idOf(await other.nth(0))).toBe(first);
        expect(owner.ids).toEqual([first]);
      }),
    );

    test(
      "redelivers a requeued call when it is due, at the front",
      withQueue(async (queue, take) => {
        const [first, second, third] = await putSome(queue, 3);
        const worker = take(1);
        const delivery = await worker.nth(0);
        const delay = 400;
        const requeueAt = performance.now();
        delivery.requeue(delay);
        worker.release(delivery);
        const held = await worker.nth(1);
        expect(idOf(held)).toBe(second);
        await eventually(() => performance.now() > requeueAt + delay + 300, {
          what: "the delay to be over",
        });
        await worker.finish(held);
        await worker.finish(await worker.nth(2));
        await worker.nth(3);
        expect(worker.ids).toEqual([first, second, first, third]);
      }),
    );

    test(
      "honours the delay of a requeue",
      withQueue(async (queue, take) => {
        await putSome(queue, 1);
        const worker = take(1);
        for (const [n, delay] of [300, 0.4, 250.7].entries()) {
          const delivery = await worker.nth(n);
          const requeueAt = performance.now();
          delivery.requeue(delay);
          worker.release(delivery);
          const again = await worker.nth(n + 1);
          expect(again.deliveredAt - requeueAt).toBeGreaterThan(delay - 25);
          expect(again.deliveredAt - requeueAt).toBeLessThan(delay + 2_000);
        }
      }),
    );

    test(
      "does not let requeued calls hold up the others",
      withQueue(async (queue, take) => {
        const ids = await putSome(queue, queue.maxLength);
        const worker = take(1);
        for (let n = 0; n < ids.length; n++) {
          const delivery = await worker.nth(n);
          delivery.requeue(60_000);
          worker.release(delivery);
        }
        expect(worker.ids).toEqual(ids);
      }),
    );

    test(
      "takes nothing after the abort, and waits for deliveries in flight",
      withQueue(async (queue, take) => {
        const [first] = await putSome(queue, 1);
        const worker = take(3);
        const delivery = await worker.nth(0);
        worker.abort();
        let ended = false;
        void worker.ended.then(() => (ended = true));
        const other = take(3);
        const later = await put(queue);
        expect(idOf(await other.nth(0, 2_000))).toBe(later);
        expect(ended).toBe(false);
        await worker.finish(delivery);
        await worker.ended;
        expect(worker.ids).toEqual([first]);
        expect(other.ids).toEqual([later]);
      }),
    );

    test(
      "takes nothing when aborted before the start",
      withQueue(async (queue, take) => {
        const worker = take(1);
        await worker.end();
        const id = await put(queue);
        expect(idOf(await take(1).nth(0))).toBe(id);
        expect(worker.taken).toEqual([]);
      }),
    );

    test(
      "shares calls among several workers, each call to one of them",
      withQueue(async (queue, take) => {
        const workers = [take(1), take(1)];
        const ids = await putSome(queue, queue.maxLength);
        const done = new Set<Delivery<QueuedCall>>();
        await eventually(
          async () => {
            for (const worker of workers) {
              for (const delivery of worker.taken.filter((one) => !done.has(one))) {
                done.add(delivery);
                await worker.finish(delivery);
              }
            }
            return done.size === ids.length;
          },
          { every: 5, what: "all calls to be dealt with" },
        );
        expect(workers.flatMap((worker) => worker.ids).toSorted()).toEqual(ids.toSorted());
        for (const worker of workers) expect(worker.taken.length).toBeGreaterThan(0);
      }),
    );
  });

  test(
    "acknowledging twice is the same as once",
    withQueue(async (queue, take) => {
      await putSome(queue, 1);
      const delivery = await take(1).nth(0);
      expect(await delivery.acknowledge()).toBe(true);
      expect(await delivery.acknowledge()).toBe(true);
    }),
  );
}
