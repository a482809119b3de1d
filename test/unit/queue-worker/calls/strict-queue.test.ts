import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { MemoryLeases } from "../../../support/memory/memory-leases.ts";
import { cancelCall } from "../../../../runtime/core/calls/cancel-call.ts";
import { QueueTurn } from "../../../../runtime/queue-worker/calls/queue-turn.ts";
import { eventually } from "../../../support/eventually.ts";
import { answered, hang, mortal, WorkerBench } from "../../../support/worker-bench.ts";

const ackWait = 400;

describe("a strict queue", () => {
  let bench: WorkerBench;
  beforeEach(() => {
    bench = new WorkerBench({ ackWait, strict: true, attempts: 3 });
  });
  afterEach(() => bench.close());

  const order = (): string[] => [...new Set(bench.runs.map(({ id }) => id))];

  test("holds its first call through all retries; none overtakes it", async () => {
    const first = await bench.accept();
    const others = [await bench.accept(), await bench.accept()];
    bench.answer = (call) => answered(call.id === first ? 503 : 200);
    const worker = bench.start();
    for (const id of others) await bench.until(id, "done");
    expect(await bench.entry(first)).toMatchObject({ state: "failed", reason: "exhausted", retries: 3 });
    expect(bench.runs.map(({ id }) => id)).toEqual([first, first, first, first, ...others]);
    expect(worker.slots).toBe(1);
  });

  test("has one worker at a time; at a clean stop the next takes over, beginning with the waiting call", async () => {
    const [first, second] = [await bench.accept(), await bench.accept()];
    let fails = true;
    bench.answer = (call) => answered(call.id === first && fails ? 503 : 200, "out", ["Retry-After", "60"]);
    const holder = bench.start();
    await bench.until(first, "waiting");
    const standby = bench.start();
    expect([holder.slots, standby.slots]).toEqual([1, 0]);
    // It is due in a minute only; the next holder has to wait for it just as long.
    await holder.stop(1_000);
    await eventually(() => standby.slots === 1, { what: "the other worker's turn" });
    expect(holder.slots).toBe(0);
    expect((await bench.entry(first)).state).toBe("waiting");
    expect(bench.runsOf(second)).toEqual([]);
    fails = false;
    await cancelCall(bench, first, () => {});
    await bench.until(second, "done");
    expect(order()).toEqual([first, second]);
  });

  test("a call whose run fails while its worker stops stays first", async () => {
    const [first, second] = [await bench.accept(), await bench.accept()];
    let release: () => void = () => {};
    bench.answer = async (call) => {
      if (call.id !== first || bench.runsOf(first).length > 1) return answered();
      await new Promise<void>((resolve) => (release = resolve));
      return answered(503);
    };
    const holder = bench.start();
    await eventually(() => bench.runs.length === 1, { what: "the first run" });
    const stopped = holder.stop(5_000);
    bench.start();
    release();
    await stopped;
    await bench.until(second, "done");
    expect(bench.runs.map(({ id }) => id)).toEqual([first, first, second]);
  });

  test("a call that is aborted by a stop is first again", async () => {
    const [first, second] = [await bench.accept(), await bench.accept()];
    bench.answer = (call, options) =>
      call.id === first && bench.runsOf(first).length === 1 ? hang(call, options) : answered();
    const holder = bench.start();
    await eventually(() => bench.runs.length === 1, { what: "the first run" });
    bench.start();
    await holder.stop(20);
    await bench.until(second, "done");
    expect(bench.runs.map(({ id }) => id)).toEqual([first, first, second]);
  });

  test("nothing overtakes the call of a worker that was killed", async () => {
    const ids = [await bench.accept(), await bench.accept(), await bench.accept()];
    const [first] = ids;
    bench.answer = (call, options) =>
      call.id === first && bench.runsOf(call.id).length < 3 ? hang(call, options) : answered();
    for (let kill = 0; kill < 2; kill++) {
      const worker = mortal(bench.parts());
      bench.start(worker.parts);
      await eventually(() => bench.runs.length === kill + 1, { what: `run ${kill + 1}` });
      worker.kill();
    }
    bench.start();
    for (const id of ids) await bench.until(id, "done", 10_000);
    expect(bench.runs.map(({ id }) => id)).toEqual([first, first, ...ids]);
    expect(await bench.entry(first ?? "")).toMatchObject({ lost: 2 });
  });
});

describe("the turn of a strict queue", () => {
  const queue = { name: "q", ackWait: 1_000 };

  test("belongs to one worker until that ends it; a wait for it can be aborted", async () => {
    const leases = new MemoryLeases();
    const stop = new AbortController();
    const first = await QueueTurn.wait(leases, queue, stop.signal);
    expect([first?.fresh, await first?.confirm(), first?.lost.aborted]).toEqual([true, true, false]);
    const second = QueueTurn.wait(leases, queue, stop.signal);
    const third = QueueTurn.wait(leases, { ...queue, name: "other" }, stop.signal);
    expect((await third)?.fresh).toBe(true);
    await first?.end();
    expect(first?.fresh).toBe(false);
    expect((await second)?.fresh).toBe(true);
    const fourth = QueueTurn.wait(leases, queue, stop.signal);
    stop.abort();
    expect(await fourth).toBeUndefined();
    await (await second)?.end();
    await (await third)?.end();
  });

  test("is lost without a renewal for the lease of a call, before another worker may have it", async () => {
    const leases = new MemoryLeases();
    let unavailable = false;
    const turn = await QueueTurn.wait(
      {
        acquire: async (name, holder, duration) => {
          if (unavailable) throw new Error("the broker is away");
          return leases.acquire(name, holder, duration);
        },
        release: (name, holder) => leases.release(name, holder),
      },
      queue,
      new AbortController().signal,
    );
    if (turn === undefined) throw new Error("there is no turn");
    unavailable = true;
    await eventually(() => turn.lost.aborted, { every: 10, what: "the loss" });
    expect([turn.fresh, await turn.confirm()]).toEqual([false, false]);
    expect(await leases.acquire("queue.q", "another", 1_000)).toBe(false);
    await turn.end();
  });
});
