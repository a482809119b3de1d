import { describe, expect, test } from "vitest";

import { MemoryActivity } from "../../../support/memory/memory-activity.ts";
import type { QueueState } from "../../../../runtime/core/ports/queue-states.ts";
import { queuePosition } from "../../../../runtime/core/queues/queue-position.ts";
import { queueStatus } from "../../../../runtime/core/queues/queue-status.ts";
import { WorkerSums } from "../../../../runtime/core/queues/worker-sums.ts";
import { QueuePositions } from "../../../../runtime/gateway/calls/async/queue-positions.ts";
import { sampleEntry, sampleQueue } from "../../../contract/samples.ts";

const state = (over: Partial<QueueState> = {}): QueueState => ({
  fresh: 0,
  onLoan: 0,
  first: 0,
  last: 0,
  firstAt: undefined,
  lastAt: undefined,
  delivered: 0,
  now: 10_000,
  ...over,
});
const place = { edition: "enterprise", home: "machine" } as const;
const status = (over: Partial<QueueState>, slots = 4, running = 0, queue = sampleQueue({ maxInflight: 2 })) =>
  queueStatus(queue, { state: state(over), workers: { slots, running }, deadLetters: 7 }, place);

describe("the status of a queue", () => {
  test("counts its calls, and gives no reason when no call waits", () => {
    expect(status({ onLoan: 1, firstAt: 8_500 }, 4, 1)).toEqual({
      name: "default",
      queued: 0,
      waiting: 0,
      running: 1,
      deadLetters: 7,
      workers: 2,
      maxInflight: 2,
      timeout: "30s",
      ackWait: "1m",
      oldestAgeSeconds: 1.5,
      limit: 1_000,
    });
    expect(status({})).toMatchObject({ queued: 0, oldestAgeSeconds: 0 });
    expect(status({})).not.toHaveProperty("why");
  });

  test("never counts more running calls than there are, nor fewer than 0 waiting ones", () => {
    expect(status({ onLoan: 2 }, 4, 3)).toMatchObject({ running: 2, waiting: 0 });
    expect(status({ onLoan: 5 }, 4, 3)).toMatchObject({ running: 3, waiting: 2 });
  });

  test.each([
    [{ fresh: 3 }, 0, 0, false, "No queue-worker takes from it: start one with queue=default"],
    [{ fresh: 3 }, 0, 0, true, "No queue-worker holds this strict queue: the next one waits 1m2s after another"],
    [{ fresh: 3, onLoan: 4 }, 4, 4, false, "All 4 slots run calls: start Weir with --max-inflight"],
    [{ fresh: 3, onLoan: 1 }, 1, 1, false, "The only slot runs a call: start Weir with --max-inflight"],
    [{ fresh: 3, onLoan: 1 }, 1, 1, true, "The only slot runs a call, as a strict queue has no more"],
    [{ fresh: 3 }, 4, 0, false, "free slots and take the next calls now"],
    [{ onLoan: 5 }, 4, 4, false, "nextAttemptAt in the record of each says when"],
    [{ onLoan: 3 }, 4, 0, false, "nextAttemptAt in the record of each says when"],
    [{ fresh: 9, onLoan: 1 }, 1, 0, true, "Its first call waits for a retry, and a strict queue lets no other pass"],
  ])("%j with %i slots, %i running, strict %s: why", (over, slots, running, strict, reason) => {
    expect(status(over, slots, running, sampleQueue({ strict })).why).toContain(reason);
  });

  test("says so when its stream is gone from the broker", () => {
    const gone = queueStatus(
      sampleQueue(),
      {
        state: undefined,
        workers: { slots: 1, running: 0 },
        deadLetters: 0,
      },
      place,
    );
    expect(gone).toMatchObject({ queued: 0, why: expect.stringContaining("is gone from the broker") });
  });
});

describe("the position of a call", () => {
  const hundred = state({ fresh: 90, onLoan: 0, first: 11, last: 100, firstAt: 1_000, lastAt: 9_900, delivered: 10 });
  test.each([
    [500, 1],
    [1_000, 1],
    [1_100, 2],
    [5_450, 46],
    [9_900, 90],
    [20_000, 90],
  ])("accepted at %i it is %i", (acceptedAt, position) => {
    expect(queuePosition(hundred, acceptedAt)).toBe(position);
  });

  test("is 1 for a call that was handed back, is alone, or is not yet known to the queue", () => {
    expect(queuePosition({ ...hundred, delivered: 60 }, 1_100)).toBe(1);
    expect(queuePosition(state(), 5)).toBe(1);
    expect(queuePosition({ ...hundred, firstAt: undefined }, 9_900)).toBe(1);
    expect(queuePosition({ ...hundred, lastAt: undefined }, 9_900)).toBe(1);
    expect(queuePosition({ ...hundred, fresh: 0 }, 9_900)).toBe(1);
    expect(queuePosition(state({ fresh: 1, first: 4, last: 4, firstAt: 5, lastAt: 5, delivered: 3 }), 5)).toBe(1);
  });

  test("is read at most twice a second, for queued calls only, and absent without a response", async () => {
    let reads = 0;
    const positions = new QueuePositions({
      read: async (queue) => {
        reads++;
        if (queue === "none") return undefined;
        if (queue === "away") throw new Error("the broker is away");
        return hundred;
      },
      depths: async () => expect.fail("nobody needs that"),
    });
    const queued = sampleEntry({ accepted: "1100000000" });
    expect(await Promise.all([positions.of(queued), positions.of(queued)])).toEqual([2, 2]);
    expect(await positions.of({ ...queued, state: "running" })).toBeUndefined();
    expect(reads).toBe(1);
    expect(await positions.of({ ...queued, queue: "none" })).toBeUndefined();
    expect(await positions.of({ ...queued, queue: "away" })).toBeUndefined();
  });
});

test("workers are summed by queue, and dropped at their end or after missing reports", async () => {
  const activity = new MemoryActivity();
  let now = 0;
  const sums = new WorkerSums(activity, () => now);
  const report = async (source: string, queue: string, slots: number, running: number) => {
    activity.publish({ source, number: 1, deltas: [], worker: { queue, slots, running } });
    await Promise.resolve();
  };
  activity.publish({
    source: "gateway",
    number: 1,
    deltas: [{ function: "echo.functions", finished: 1, inFlight: 1 }],
  });
  expect(sums.untilComplete).toBe(1_200);
  await report("a", "default", 4, 1);
  await report("b", "default", 2, 2);
  await report("c", "slow", 1, 1);
  expect(sums.of("default")).toEqual({ slots: 6, running: 3 });
  expect(sums.of("slow")).toEqual({ slots: 1, running: 1 });
  expect(sums.of("none")).toEqual({ slots: 0, running: 0 });
  await report("b", "default", 0, 0);
  expect(sums.of("default")).toEqual({ slots: 4, running: 1 });
  now = 3_600;
  await report("c", "slow", 0, 1);
  expect(sums.untilComplete).toBe(0);
  expect(sums.of("default")).toEqual({ slots: 0, running: 0 });
  expect(sums.of("slow")).toEqual({ slots: 0, running: 1 });
  sums.close();
  await report("a", "default", 4, 1);
  expect(sums.of("default")).toEqual({ slots: 0, running: 0 });
});

test("a worker that runs nothing still has its slots, until its reports are missing for more than 3.5 s", async () => {
  const activity = new MemoryActivity();
  let now = 0;
  const sums = new WorkerSums(activity, () => now);
  activity.publish({ source: "a", number: 1, deltas: [], worker: { queue: "default", slots: 2, running: 0 } });
  await Promise.resolve();
  now = 3_500;
  expect(sums.of("default")).toEqual({ slots: 2, running: 0 });
  now = 3_501;
  expect(sums.of("default")).toEqual({ slots: 0, running: 0 });
  sums.close();
});
