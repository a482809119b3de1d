import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { Lease, type Touch } from "../../../runtime/queue-worker/lease.ts";

const ackWait = 3_000;
let extended: number[];
let sends: boolean;
let lease: Lease;

beforeEach(() => {
  vi.useFakeTimers();
  extended = [];
  sends = true;
  lease = new Lease({
    ackWait,
    deliveredAt: performance.now(),
    extend: () => {
      extended.push(performance.now());
      return sends;
    },
  });
});
afterEach(() => {
  lease.close();
  vi.useRealTimers();
});

test("extends every third of the lease, and is never lost while that works", async () => {
  await vi.advanceTimersByTimeAsync(30_000);
  expect(extended.length).toBe(30);
  expect(lease.lost.aborted).toBe(false);
});

test("touches first, and extends only when the record is still ours", async () => {
  const order: string[] = [];
  lease.touchWith(async (): Promise<Touch> => {
    order.push(`touch after ${extended.length}`);
    return "ours";
  });
  await vi.advanceTimersByTimeAsync(3_000);
  expect(order).toEqual(["touch after 0", "touch after 1", "touch after 2"]);
  lease.touchWith(async () => "no-answer");
  await vi.advanceTimersByTimeAsync(2_000);
  expect(extended.length).toBe(3);
  expect(lease.lost.aborted).toBe(false);
});

test("is lost at once when the record is another's", async () => {
  lease.touchWith(async () => "not-ours");
  await vi.advanceTimersByTimeAsync(1_000);
  expect(lease.lost.aborted).toBe(true);
  expect(extended).toEqual([]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(extended).toEqual([]);
});

test("is lost when nothing worked for the whole lease, counted from the delivery", async () => {
  sends = false;
  await vi.advanceTimersByTimeAsync(2_999);
  expect(lease.lost.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(lease.lost.aborted).toBe(true);
});

test("is lost to the millisecond, counted from when the last that worked was sent, not at the next heartbeat", async () => {
  let answers = true;
  lease.touchWith(
    () =>
      new Promise((resolve) => {
        if (answers) setTimeout(() => resolve("ours"), 900);
      }),
  );
  await vi.advanceTimersByTimeAsync(1_950);
  expect(extended).toEqual([expect.any(Number)]);
  answers = false;
  await vi.advanceTimersByTimeAsync(1_000 + ackWait - 1_950 - 1);
  expect(lease.lost.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(lease.lost.aborted).toBe(true);
});

test("that was lost stays lost, and is not extended by a touch that was under way", async () => {
  let answer: (touch: Touch) => void = () => {};
  lease.touchWith(() => new Promise((resolve) => (answer = resolve)));
  await vi.advanceTimersByTimeAsync(3_000);
  expect(lease.lost.aborted).toBe(true);
  answer("ours");
  lease.proven(performance.now());
  await vi.advanceTimersByTimeAsync(10_000);
  expect(extended).toEqual([]);
  expect(lease.lost.aborted).toBe(true);
});

test("counts from the delivery, which may be a while ago", async () => {
  lease.close();
  lease = new Lease({ ackWait, deliveredAt: performance.now() - 2_500, extend: () => false });
  await vi.advanceTimersByTimeAsync(499);
  expect(lease.lost.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(lease.lost.aborted).toBe(true);
});

test("is lost while a touch hangs", async () => {
  lease.touchWith(() => new Promise(() => {}));
  await vi.advanceTimersByTimeAsync(3_000);
  expect(lease.lost.aborted).toBe(true);
});

test("keeps when something works now and then, also a write of the record", async () => {
  sends = false;
  await vi.advanceTimersByTimeAsync(2_900);
  lease.proven(performance.now());
  await vi.advanceTimersByTimeAsync(1_900);
  expect(lease.lost.aborted).toBe(false);
  sends = true;
  await vi.advanceTimersByTimeAsync(1_000);
  sends = false;
  await vi.advanceTimersByTimeAsync(2_000);
  expect(lease.lost.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(lease.lost.aborted).toBe(true);
});

test("does not touch any more when told so, but extends", async () => {
  lease.touchWith(async () => "not-ours");
  lease.stopTouching();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(extended.length).toBe(2);
});

test("does nothing after it was closed, even if a touch was under way", async () => {
  let answer: (touch: Touch) => void = () => {};
  lease.touchWith(() => new Promise((resolve) => (answer = resolve)));
  await vi.advanceTimersByTimeAsync(1_000);
  lease.close();
  answer("ours");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(extended).toEqual([]);
  expect(lease.lost.aborted).toBe(false);
});

test("is lost by the clock for a process that was stopped, before any timer says so, and nothing renews it", () => {
  lease.close();
  vi.useRealTimers();
  lease = new Lease({ ackWait: 40, deliveredAt: performance.now(), extend: () => true });
  lease.proven(performance.now());
  const stopped = performance.now() + 50;
  while (performance.now() < stopped);
  // What it hears first of all: an answer to a write that was sent before.
  lease.proven(performance.now());
  expect(lease.lost.aborted).toBe(true);
});

test("is not extended by a touch that was answered before the deadline and heard after it", async () => {
  lease.close();
  vi.useRealTimers();
  let answer: ((touch: Touch) => void) | undefined;
  lease = new Lease({ ackWait: 60, deliveredAt: performance.now(), extend: () => extended.push(0) > 0 });
  lease.touchWith(() => new Promise((resolve) => (answer = resolve)));
  const heard = await vi.waitUntil(() => answer, { interval: 1 });
  const stopped = performance.now() + 70;
  while (performance.now() < stopped);
  heard("ours");
  await Promise.resolve();
  await Promise.resolve();
  expect(extended).toEqual([]);
});
