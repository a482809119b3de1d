import { expect, test } from "vitest";

import type { QueuedCall } from "../../runtime/core/calls/call.ts";
import type { CallQueue, DeliverySource } from "../../runtime/core/ports/call-queue.ts";
import type { QueueStates } from "../../runtime/core/ports/queue-states.ts";
import { eventually } from "../support/eventually.ts";
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
  test("tells what waits, what is on loan, and where it stands", async () => {
    const { states, calls, source, close } = await open();
    const put = async (over: Partial<QueuedCall> = {}) => calls.put(sampleCall(over), soon());
    const before = Date.now();
    for (let n = 0; n < 3; n++) await put();
    const state = await states.read("default");
    expect(state).toMatchObject({ fresh: 3, onLoan: 0, first: 1, last: 3, delivered: 0 });
    expect(state?.firstAt).toBeGreaterThan(before - 5_000);
    expect(state?.lastAt).toBeGreaterThanOrEqual(state?.firstAt ?? Number.POSITIVE_INFINITY);
    expect(state?.now).toBeGreaterThanOrEqual(state?.lastAt ?? Number.POSITIVE_INFINITY);

    const taker = new TestTaker(source, 2);
    await taker.nth(1);
    expect(await states.read("default")).toMatchObject({ fresh: 1, onLoan: 2, first: 1, last: 3, delivered: 2 });
    await taker.finish(await taker.nth(0));
    await taker.nth(2);
    expect(await states.read("default")).toMatchObject({ fresh: 0, onLoan: 2, first: 2, last: 3, delivered: 3 });
    await taker.finish(await taker.nth(1));
    await taker.finish(await taker.nth(2));
    await eventually(async () => (await states.read("default"))?.onLoan === 0, { what: "the end" });
    expect(await states.read("default")).toMatchObject({ fresh: 0, first: 0, last: 0, firstAt: undefined });
    await taker.end();
    await close();
  });

  test("counts the calls of each function, those on loan too, and all that ever came", async () => {
    const { states, calls, source, close } = await open();
    for (const name of ["echo", "slow", "slow"]) {
      await calls.put(sampleCall({ function: { namespace: "dev", name } }), soon());
    }
    const taker = new TestTaker(source, 1);
    const first = await taker.nth(0);
    expect(await states.depths("default")).toEqual({
      byFunction: new Map([
        ["echo.dev", 1],
        ["slow.dev", 2],
      ]),
      submitted: 3,
    });
    await taker.finish(first);
    await taker.nth(1);
    expect(await states.depths("default")).toEqual({ byFunction: new Map([["slow.dev", 2]]), submitted: 3 });
    for (const delivery of taker.taken) taker.release(delivery);
    await taker.end();
    await close();
  });

  test("knows nothing of a queue that is not there", async () => {
    const { states, close } = await open();
    expect(await states.read("none")).toBeUndefined();
    expect(await states.depths("none")).toEqual({ byFunction: new Map(), submitted: 0 });
    await close();
  });
}
