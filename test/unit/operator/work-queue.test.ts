import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { WorkQueue, type WorkQueueParts } from "../../../runtime/operator/work-queue.ts";
import { createLog } from "../../../runtime/process/log.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const settle = 20;

/** A queue whose work on each key ends when the test says so. */
function openQueue(parts: Partial<WorkQueueParts> = {}) {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  let failures = 0;
  const queue = new WorkQueue({
    work: async (key) => {
      begun.push(key);
      await new Promise<void>((resolve) => ends.push(resolve));
      return undefined;
    },
    workers: 2,
    debounce: settle,
    log: createLog("test", "silent"),
    failed: () => void (failures += 1),
    random: () => 1,
    ...parts,
  });
  const endAll = async (): Promise<void> => {
    for (const end of ends.splice(0)) end();
    await vi.advanceTimersByTimeAsync(0);
  };
  return { queue, begun, endAll, failures: () => failures };
}

test("changes that come together count as one", async () => {
  const { queue, begun, endAll } = openQueue();
  for (const key of ["a", "b", "a", "a"]) queue.add(key);
  expect(queue.size).toBe(2);
  await vi.advanceTimersByTimeAsync(settle);
  expect(begun.toSorted()).toEqual(["a", "b"]);
  await endAll();
  await vi.advanceTimersByTimeAsync(600_000);
  expect(begun.length).toBe(2);
  expect(queue.size).toBe(0);
});

test("a key that changes while it is worked on is done once more afterwards", async () => {
  const { queue, begun, endAll } = openQueue();
  queue.add("a");
  await vi.advanceTimersByTimeAsync(settle);
  for (let runs = 0; runs < 3; runs += 1) queue.add("a");
  await vi.advanceTimersByTimeAsync(600_000);
  expect(begun).toEqual(["a"]);
  await endAll();
  await vi.advanceTimersByTimeAsync(settle);
  expect(begun).toEqual(["a", "a"]);
  await endAll();
  expect(queue.size).toBe(0);
});

test("no more keys are worked on than there are workers, the others in their order", async () => {
  const { queue, begun, endAll } = openQueue();
  for (const key of ["a", "b", "c", "d"]) queue.add(key);
  await vi.advanceTimersByTimeAsync(settle);
  expect(begun).toEqual(["a", "b"]);
  await endAll();
  expect(begun).toEqual(["a", "b", "c", "d"]);
});

test("a key that fails is retried ever later, whatever is added meanwhile, and soon after it succeeds", async () => {
  const at: number[] = [];
  let fails = true;
  const { queue, failures } = openQueue({
    work: async () => {
      at.push(Date.now());
      if (fails) throw new Error("not yet");
      return undefined;
    },
  });
  const busy = setInterval(() => queue.add("a"), 10);
  queue.add("a");
  await vi.advanceTimersByTimeAsync(180_000);
  clearInterval(busy);
  const pauses = at.slice(1).map((each, index) => each - (at[index] ?? 0));
  expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000]);
  expect(failures()).toBe(at.length);
  fails = false;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(queue.size).toBe(0);
  const before = Date.now();
  queue.add("a");
  await vi.advanceTimersByTimeAsync(settle);
  expect(at.at(-1)).toBe(before + settle);
});

test("jitter shortens a pause by up to a quarter", async () => {
  let runs = 0;
  const { queue } = openQueue({
    random: () => 0,
    work: async () => {
      runs += 1;
      throw new Error("never");
    },
  });
  queue.add("a");
  await vi.advanceTimersByTimeAsync(settle + 374);
  expect(runs).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(runs).toBe(2);
});

test("a key is revisited when its work says so, or sooner when it changes", async () => {
  let runs = 0;
  const { queue } = openQueue({
    work: async () => {
      runs += 1;
      return runs === 1 ? 5_000 : undefined;
    },
  });
  queue.add("a");
  await vi.advanceTimersByTimeAsync(settle);
  await vi.advanceTimersByTimeAsync(4_999);
  expect(runs).toBe(1);
  queue.add("a");
  await vi.advanceTimersByTimeAsync(settle);
  expect(runs).toBe(2);
  expect(queue.size).toBe(0);
});

test("a queue that closes ends what is in progress, and begins nothing", async () => {
  const { queue, begun, endAll } = openQueue();
  for (const key of ["a", "b", "c"]) queue.add(key);
  await vi.advanceTimersByTimeAsync(settle);
  queue.add("a");
  let closed = false;
  const closing = queue.close().then(() => (closed = true));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(closed).toBe(false);
  await endAll();
  await closing;
  queue.add("d");
  await vi.advanceTimersByTimeAsync(600_000);
  expect(begun).toEqual(["a", "b"]);
  expect(vi.getTimerCount()).toBe(0);
});

test("changed keys go before revisited ones, and are done once", async () => {
  const { queue, begun, endAll } = openQueue({ workers: 1 });
  for (const key of ["a", "b", "c", "d"]) queue.revisit(key);
  await vi.advanceTimersByTimeAsync(settle);
  expect(begun).toEqual(["a"]);
  queue.add("d");
  queue.add("new");
  await vi.advanceTimersByTimeAsync(settle);
  for (let round = 0; round < 5; round += 1) await endAll();
  expect(begun).toEqual(["a", "d", "new", "b", "c"]);
  expect(queue.size).toBe(0);
});

test("a key that failed does not wait for all revisited ones", async () => {
  const ends = new Map<string, (err?: Error) => void>();
  const begun: string[] = [];
  const { queue } = openQueue({
    workers: 1,
    work: (key) => {
      begun.push(key);
      return new Promise((resolve, reject) =>
        ends.set(key, (err) => (err === undefined ? resolve(undefined) : reject(err))),
      );
    },
  });
  for (const key of ["a", "b", "c"]) queue.revisit(key);
  await vi.advanceTimersByTimeAsync(settle);
  ends.get("a")?.(new Error("no"));
  await vi.advanceTimersByTimeAsync(60_000);
  ends.get("b")?.();
  await vi.advanceTimersByTimeAsync(0);
  expect(begun).toEqual(["a", "b", "a"]);
});
