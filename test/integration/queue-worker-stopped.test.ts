import { afterEach, describe, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { openFaultBench, type FaultBench } from "../support/fault-bench.ts";
import { openFunctionServer } from "../support/function-server.ts";

/** Milliseconds from the signal: 100 are promised, more are allowed as other tests share the machine. */
const lastPull = 300;
/** Promised after the hand-back, milliseconds; times three, as this is the fast profile. */
const handedBackStart = 3 * 2_000;

let bench: FaultBench | undefined;
afterEach(() => bench?.close());

describe("FW3 SIGTERM of a worker", () => {
  test("in turn under load repeats or aborts no run; the last claims no more, lets runs finish, the rest runs later", async () => {
    const { platform, working, ...opened } = (bench = await openFaultBench({ workers: 2, slots: 4 }));
    const load = opened.load({ rate: 40, count: 120, body: () => "100" });
    const [, second] = platform.workers;
    for (const worker of [...platform.workers, platform.worker]) {
      expect((await worker.stop()).code).toBe(0);
      await worker.start();
    }
    await load;
    expect(working.aborted).toBe(0);
    await second?.stop();

    const starts: { readonly id: string; readonly at: number }[] = [];
    const slow = await opened.open("slow", (request, response) => {
      starts.push({ id: String(request.headers["x-call-id"]), at: performance.now() });
      setTimeout(() => response.end("whole"), 700);
    });
    const ids = await Promise.all(Array.from({ length: 20 }, () => platform.calls.accepted("slow")));
    await eventually(() => starts.length === 8 && slow.open === 4, {
      every: 5,
      what: "the second round of runs",
    });
    const signalled = performance.now();
    const ended = await platform.worker.stop();
    expect(ended.code).toBe(0);
    expect(ended.at - signalled).toBeLessThan(10_000 + 1_000);
    expect(starts.filter(({ at }) => at > signalled + lastPull)).toEqual([]);
    expect([slow.aborted, slow.open]).toEqual([0, 0]);
    const before = starts.map(({ id }) => id);
    for (const id of before) expect((await platform.calls.status(id))?.state).toBe("done");

    await platform.worker.start();
    for (const id of ids) expect(await platform.calls.ended(id)).toMatchObject({ state: "done", retries: 0 });
    expect(starts.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    const { counts, violations } = await opened.settle();
    expect(violations).toEqual([]);
    expect(counts).toMatchObject({ extraRuns: 0, refused: 0, unknown: 0 });
  });

  test("hands back what cannot finish in time, and another worker continues with it", async () => {
    const { platform, ...opened } = (bench = await openFaultBench({
      workers: 2,
      upstreamTimeout: 700,
      drainTimeout: 700,
      wakeTimeout: 20_000,
    }));
    const ready = await openFunctionServer();
    try {
      await platform.deploy("scaled-to-zero", { addresses: [] });
      const id = await platform.calls.accepted("scaled-to-zero");
      await platform.calls.until(id, ["running"]);
      const busy = await eventually(
        async () => {
          for (const worker of platform.workers) {
            if ((await platform.metric(worker, "queue_worker_function_invocation_inflight")) === 1) return worker;
          }
          return undefined;
        },
        { what: "the worker that holds the call" },
      );

      const signalled = performance.now();
      const ended = await busy.stop();
      // Times three, as other tests share the machine; the call waits for its function for 20 s.
      expect(ended.at - signalled).toBeLessThan(3 * (700 + 1_000));
      const record = await platform.calls.until(id, ["running"], handedBackStart);
      expect(record).toMatchObject({
        retries: 0,
        attempts: [{ number: 1, error: "the queue-worker stopped" }, { number: 2 }],
      });

      await platform.deploy("scaled-to-zero", { addresses: [ready.address] });
      expect(await platform.calls.ended(id)).toMatchObject({ state: "done", retries: 0 });
      expect((await platform.broker.ledger.read(id))?.entry).toMatchObject({ run: 2, lost: 0 });
      expect(ready.requests).toHaveLength(1);
      expect((await opened.settle()).violations).toEqual([]);
    } finally {
      await ready.close();
    }
  });

  test("waits for drain_timeout and not for the queue's timeout, and logs what it handed back", async () => {
    const { platform, ...opened } = (bench = await openFaultBench({ upstreamTimeout: 60_000, drainTimeout: 700 }));
    let replies = false;
    const slow = await opened.open("slow", (_request, response) => void (replies && response.end("whole")));
    const id = await platform.calls.accepted("slow");
    await eventually(() => slow.open === 1, { what: "the run" });
    const signalled = performance.now();
    const ended = await platform.worker.stop();
    expect(ended.code).toBe(0);
    // Times three, as other tests share the machine; the run may take a minute.
    expect(ended.at - signalled).toBeLessThan(3 * (700 + 5_000));
    const handedBack = platform.worker.log.filter(({ msg }) => String(msg).includes("its call was handed back"));
    expect(handedBack).toMatchObject([{ callId: id, functionName: "slow.functions" }]);

    replies = true;
    await platform.worker.start();
    expect(await platform.calls.ended(id)).toMatchObject({ state: "done", retries: 0 });
  });
});
