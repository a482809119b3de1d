import { expect, test } from "vitest";

import type { QueuedCall } from "../../runtime/core/calls/call.ts";
import type { CallQueue, DeliverySource } from "../../runtime/core/ports/call-queue.ts";
import type { QueueState, QueueStates } from "../../runtime/core/ports/queue-states.ts";
import { TestTaker } from "./call-queue.contract.ts";
import { sampleCall, soon } from "./samples.ts";

/** An empty queue `default` for one test; nothing was ever put into it. */
export interface OpenQueueStates {
  readonly states: QueueStates;
  readonly calls: CallQueue;
  readonly source: DeliverySource<QueuedCall>;
  close(): Promise<void>;
}

/** What every `QueueStates` must do. */
export function queueStatesContract(open: () => Promise<OpenQueueStates>): void {
  test("reports queued calls, deliveries in flight, and their positions", async () => {
    const { states, calls, source, close } = await open();
    const put = async (over: Partial<QueuedCall> = {}) => calls.put(sampleCall(over), soon());
    const before = Date.now();
    for (let n = 0; n < 3; n++) await put();
    // The broker counts calls and deliveries after it has acknowledged them.
    const expectState = async (expected: Partial<QueueState>): Promise<void> =>
      await expect.poll(() => states.read("default")).toMatchObject(expected);
    await expectState({ fresh: 3, onLoan: 0, first: 1, last: 3, delivered: 0 });
    const state = await states.read("default");
    expect(state?.firstAt).toBeGreaterThan(before - 5_000);
    expect(state?.lastAt).toBeGreaterThanOrEqual(state?.firstAt ?? Number.POSITIVE_INFINITY);
    expect(state?.now).toBeGreaterThanOrEqual(state?.lastAt ?? Number.POSITIVE_INFINITY);

    const worker = new TestTaker(source, 2);
    await worker.nth(1);
    await expectState({ fresh: 1, onLoan: 2, first: 1, last: 3, delivered: 2 });
    await worker.finish(await worker.nth(0));
    await worker.nth(2);
    await expectState({ fresh: 0, onLoan: 2, first: 2, last: 3, delivered: 3 });
    await worker.finish(await worker.nth(1));
    await worker.finish(await worker.nth(2));
    await expectState({ fresh: 0, onLoan: 0, first: 0, last: 0, firstAt: undefined });
    await worker.end();
    await close();
  });

  test("counts the calls of each function, those in flight too, and all that were ever stored", async () => {
    const { states, calls, source, close } = await open();
    for (const name of ["echo", "slow", "slow"]) {
      await calls.put(sampleCall({ function: { namespace: "dev", name } }), soon());
    }
    const worker = new TestTaker(source, 1);
    const first = await worker.nth(0);
    expect(await states.depths("default")).toEqual({
      byFunction: new Map([
        ["echo.dev", 1],
        ["slow.dev", 2],
      ]),
      submitted: 3,
    });
    await worker.finish(first);
    await worker.nth(1);
    const rest = { byFunction: new Map([["slow.dev", 2]]), submitted: 3 };
    await expect.poll(() => states.depths("default")).toEqual(rest);
    for (const delivery of worker.taken) worker.release(delivery);
    await worker.end();
    await close();
  });

  test("knows nothing of an unknown queue", async () => {
    const { states, close } = await open();
    expect(await states.read("none")).toBeUndefined();
    expect(await states.depths("none")).toEqual({ byFunction: new Map(), submitted: 0 });
    await close();
  });
}
