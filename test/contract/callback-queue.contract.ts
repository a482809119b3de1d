import { expect, test } from "vitest";

import type { Delivery, DeliverySource } from "../../runtime/core/ports/call-queue.ts";
import type { CallbackQueue, QueuedCallback } from "../../runtime/core/ports/callback-queue.ts";
import { eventually } from "../support/eventually.ts";
import { sampleCallback, soon } from "./samples.ts";

export interface OpenCallbackQueue {
  readonly callbacks: CallbackQueue;
  readonly source: DeliverySource<QueuedCallback>;
  close(): Promise<void>;
}

/** What every `CallbackQueue` must do. */
export function callbackQueueContract(open: () => Promise<OpenCallbackQueue>): void {
  const taking = async (
    queue: OpenCallbackQueue,
    act: (taken: readonly Delivery<QueuedCallback>[]) => Promise<void>,
  ): Promise<void> => {
    const stop = new AbortController();
    const taken: Delivery<QueuedCallback>[] = [];
    const ended = queue.source.take(
      8,
      async (delivery) => {
        taken.push(delivery);
        await delivery.acknowledge();
      },
      stop.signal,
    );
    try {
      await act(taken);
    } finally {
      stop.abort();
      await ended;
      await queue.close();
    }
  };
  const read = ({ content }: Delivery<QueuedCallback>): QueuedCallback =>
    "read" in content ? content.read : expect.fail(content.unreadable);

  test("keeps whole callbacks, in the order they were put", async () => {
    const queue = await open();
    const expected = [sampleCallback(), sampleCallback({ redrives: 4, headers: [], depth: 0, queue: "slow" })];
    for (const callback of expected) expect(await queue.callbacks.put(callback, soon())).toEqual({ kind: "stored" });
    await taking(queue, async (taken) => {
      await eventually(() => taken.length === 2, { what: "both callbacks" });
      expect(taken.map(read)).toEqual(expected);
    });
  });

  test("stores the same callback once, and that of a redrive beside it", async () => {
    const queue = await open();
    const callback = sampleCallback();
    const redriven = { ...callback, redrives: 1 };
    for (const each of [callback, callback, redriven, redriven]) {
      expect(await queue.callbacks.put(each, soon())).toEqual({ kind: "stored" });
    }
    const last = sampleCallback();
    await queue.callbacks.put(last, soon());
    await taking(queue, async (taken) => {
      await eventually(() => taken.map(read).some(({ id }) => id === last.id), {
        what: "the last callback",
      });
      expect(taken.map(read)).toEqual([callback, redriven, last]);
    });
  });

  test("does nothing after its deadline", async () => {
    const queue = await open();
    expect(await queue.callbacks.put(sampleCallback(), performance.now() - 1)).toMatchObject({
      kind: "refused",
      because: "unavailable",
    });
    await queue.close();
  });
}
