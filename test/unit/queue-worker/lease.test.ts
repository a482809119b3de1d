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
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** The process is suspended: the clock goes on, but no timer fires. */
function suspend(duration: number): void {
  vi.spyOn(performance, "now").mockReturnValue(performance.now() + duration);
}

test("extends every third of the lease, and is never lost while that works", async () => {
  await vi.advanceTimersByTimeAsync(30_000);
  expect(extended.length).toBe(30);
  expect(lease.lost.aborted).toBe(false);
});

test("renews first, and extends only while the record is ours", async () => {
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

test("is lost when nothing succeeded for the whole lease, counted from the delivery", async () => {
  sends = false;
  await vi.advanceTimersByTimeAsync(2_999);
  expect(lease.lost.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(lease.lost.aborted).toBe(true);
});

test("is lost to the millisecond, counted from when the last successful renewal was sent", async () => {
  let responds = true;
  lease.touchWith(
    () =>
      new Promise((resolve) => {
        if (responds) setTimeout(() => resolve("ours"), 900);
      }),
  );
  await vi.advanceTimersByTimeAsync(1_950);
  expect(extended).toEqual([expect.any(Number)]);
  responds = false;
  await vi.advanceTimersByTimeAsync(1_000 + ackWait - 1_950 - 1);
  expect(lease.lost.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(lease.lost.aborted).toBe(true);
});

test("stays lost, and is not extended by a renewal in flight", async () => {
  let respond: (touch: Touch) => void = () => {};
  lease.touchWith(() => new Promise((resolve) => (respond = resolve)));
  await vi.advanceTimersByTimeAsync(3_000);
  expect(lease.lost.aborted).toBe(true);
  respond("ours");
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

test("is lost while a renewal hangs", async () => {
  lease.touchWith(() => new Promise(() => {}));
  await vi.advanceTimersByTimeAsync(3_000);
  expect(lease.lost.aborted).toBe(true);
});

test("is kept when something succeeds now and then, also a write of the record", async () => {
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

test("after stopTouching() is only extended", async () => {
  lease.touchWith(async () => "not-ours");
  lease.stopTouching();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(extended.length).toBe(2);
});

test("does nothing after it was closed, even with a renewal in flight", async () => {
  let respond: (touch: Touch) => void = () => {};
  lease.touchWith(() => new Promise((resolve) => (respond = resolve)));
  await vi.advanceTimersByTimeAsync(1_000);
  lease.close();
  respond("ours");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(extended).toEqual([]);
  expect(lease.lost.aborted).toBe(false);
});

test("is lost by the clock for a process that was suspended, before any timer fires, and is not renewed", () => {
  suspend(ackWait);
  // The first event afterwards: a response to a write that was sent before.
  lease.proven(performance.now());
  expect(lease.lost.aborted).toBe(true);
});

test("is not extended by a renewal whose response came before the deadline and is read after it", async () => {
  let respond: (touch: Touch) => void = () => {};
  let renewals = 0;
  lease.touchWith(() => {
    renewals += 1;
    return new Promise((resolve) => (respond = resolve));
  });
  await vi.advanceTimersByTimeAsync(1_000);
  respond("ours");
  await vi.advanceTimersByTimeAsync(1_000);
  expect([renewals, extended.length]).toEqual([2, 1]);
  suspend(ackWait);
  respond("ours");
  await vi.advanceTimersByTimeAsync(0);
  expect(extended.length).toBe(1);
  expect(lease.lost.aborted).toBe(true);
});
