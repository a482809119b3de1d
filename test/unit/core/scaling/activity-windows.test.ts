import { beforeEach, describe, expect, test } from "vitest";

import { ActivityWindows } from "../../../../runtime/core/scaling/activity-windows.ts";
import type { ActivityReport } from "../../../../runtime/core/ports/activity.ts";

const key = "echo.functions";
const silenceTimeout = 60_000;

let windows: ActivityWindows;
const numbers = new Map<string, number>();

beforeEach(() => {
  windows = new ActivityWindows({ window: 10_000, silenceTimeout }, 0);
  numbers.clear();
});

/** The next report of a process about one function. */
function report(
  now: number,
  finished: number,
  inFlight: number,
  { busy, ...over }: Partial<ActivityReport> & { readonly busy?: number } = {},
): void {
  const { source = "gateway-1" } = over;
  const number = over.number ?? (numbers.get(source) ?? 0) + 1;
  numbers.set(source, number);
  windows.addReport({ source, number, deltas: [{ function: key, finished, inFlight, busy }], ...over }, now);
}
const activity = (now: number) => windows.of(key, now);
/** Calls that began in the window that ends at `now`. */
const begun = (now: number): number => Math.round((activity(now)?.rate ?? Number.NaN) * 10 * 1_000) / 1_000;

describe("the activity of a function", () => {
  test("is known only while the function is followed", () => {
    report(1_000, 1, 1);
    expect(activity(1_000)).toBeUndefined();
    windows.follow(key, 1_000);
    expect(activity(1_000)).toMatchObject({ inFlight: 1 });
    windows.forget(key);
    expect(activity(1_000)).toBeUndefined();
  });

  test("is zero as long as it was never called", () => {
    windows.follow(key, 0);
    report(1_000, 0, 0);
    const zero = { rate: 0, recentRate: 0, busy: 0, recentBusy: 0, inFlight: 0, lastCallAt: undefined };
    expect(activity(5_000)).toEqual(zero);
  });

  test("is averaged per second over the window, and over its last fifth", () => {
    windows.follow(key, 0);
    for (let second = 1; second <= 20; second++) report(second * 1_000, second > 16 ? 15 : 5, second > 16 ? 4 : 2);
    const last = activity(20_000);
    expect(last?.rate).toBeCloseTo(8.2, 5);
    expect(last?.recentRate).toBeCloseTo(15, 5);
    expect(last?.busy).toBeCloseTo(2.4, 5);
    expect(last?.recentBusy).toBeCloseTo(4, 5);
    expect(last).toMatchObject({ inFlight: 4, lastCallAt: 20_000 });
  });

  test("is not changed by following it again", () => {
    windows.follow(key, 0);
    report(1_000, 5, 3);
    windows.follow(key, 1_000);
    expect(activity(1_000)).toMatchObject({ inFlight: 3, lastCallAt: 1_000 });
    expect(begun(5_000)).toBe(8);
  });

  test("is the sum of several processes", () => {
    windows.follow(key, 0);
    report(1_000, 2, 1);
    report(1_000, 3, 2, { source: "gateway-2" });
    expect(activity(1_000)?.inFlight).toBe(3);
    expect(begun(5_000)).toBe(8);
    report(2_000, 0, 0);
    expect(activity(2_000)?.inFlight).toBe(2);
  });
});

describe("a call", () => {
  test("counts once, when it begins, however long it runs", () => {
    windows.follow(key, 0);
    report(1_000, 0, 3);
    report(2_000, 0, 3);
    report(3_000, 1, 2);
    report(4_000, 2, 0);
    expect(begun(8_000)).toBe(3);
  });

  test("is in flight until the report without it", () => {
    windows.follow(key, 0);
    report(1_000, 0, 1);
    expect(activity(1_000)?.lastCallAt).toBe(1_000);
    report(2_000, 0, 0);
    expect(activity(2_000)?.lastCallAt).toBe(2_000);
    report(3_000, 0, 0);
    expect(activity(3_000)?.lastCallAt).toBe(2_000);
    report(4_000, 1, 0);
    expect(activity(4_000)?.lastCallAt).toBe(4_000);
  });

  test("may be old if its process was not known before, and is not counted then", () => {
    windows.follow(key, 0);
    report(1_000, 2, 3, { number: 5 });
    expect(activity(1_000)?.inFlight).toBe(3);
    expect(begun(5_000)).toBe(2);
  });

  test("is spread over the time since the previous report, at least one second and at most three", () => {
    windows.follow(key, 0);
    report(10_000, 10, 0);
    expect(activity(11_000)?.recentRate).toBeCloseTo(5, 5);
    report(10_100, 10, 0);
    expect(activity(11_000)?.recentRate).toBeCloseTo(9.5, 5);
    expect(begun(15_000)).toBe(20);
    windows = new ActivityWindows({ window: 10_000, silenceTimeout }, 0);
    windows.follow(key, 0);
    report(1_000, 0, 0, { number: 1 });
    report(20_000, 30, 0, { number: 2 });
    const recent = [20_000, 21_000, 22_000, 23_000].map((at) => Math.round(activity(at)?.recentRate ?? Number.NaN));
    expect(recent).toEqual([10, 10, 5, 0]);
    expect(begun(22_000)).toBe(30);
  });

  test("that ended in a report which was lost makes no other call uncounted", () => {
    windows.follow(key, 0);
    report(1_000, 0, 5);
    expect(begun(5_000)).toBe(5);
    // Of the four that are gone no report says that they ended.
    report(5_000, 0, 1, { number: 5 });
    expect(begun(9_000)).toBe(5);
  });

  test("does not end before it began: calls in flight are never fewer than 0", () => {
    windows.follow(key, 0);
    report(1_000, 0, 2, { last: true });
    expect(activity(1_000)?.inFlight).toBe(0);
  });
});

describe("calls in flight", () => {
  const busyAt = (now: number): number => Math.round((activity(now)?.busy ?? Number.NaN) * 1_000) / 1_000;

  test("are averaged over all of the time, not taken from the moments of the reports", () => {
    windows.follow(key, 0);
    // Ten calls of 100 ms each second, and at every second report all of them are in flight.
    for (let second = 1; second <= 20; second++) {
      report(second * 1_000, second % 2 === 0 ? 0 : 20, second % 2 === 0 ? 10 : 0, { busy: 1_000 });
    }
    expect(busyAt(20_000)).toBe(1);
    expect(activity(20_000)?.recentBusy).toBeCloseTo(1, 5);
  });

  test("between two reports are as many as the last one said", () => {
    windows.follow(key, 0);
    for (let second = 1; second <= 12; second++) report(second * 1_000, 0, 4, { busy: 4_000 });
    expect(busyAt(12_000)).toBe(4);
    expect(busyAt(15_000)).toBe(4);
    report(15_000, 4, 0, { busy: 0 });
    expect(busyAt(17_000)).toBe(2.4);
  });

  test("of a receiver that stalled are counted once", () => {
    windows.follow(key, 0);
    for (let second = 1; second <= 10; second++) report(second * 1_000, 0, 4, { busy: 4_000 });
    for (let missed = 0; missed < 3; missed++) report(13_000, 0, 4, { busy: 4_000 });
    for (let second = 14; second <= 16; second++) report(second * 1_000, 0, 4, { busy: 4_000 });
    expect(busyAt(16_000)).toBe(4);
  });

  test("of lost reports are taken to be those of the next one", () => {
    windows.follow(key, 0);
    for (let second = 1; second <= 10; second++) report(second * 1_000, 0, 4, { busy: 4_000 });
    report(13_000, 0, 4, { busy: 4_000, number: 13 });
    for (let second = 14; second <= 16; second++) report(second * 1_000, 0, 4, { busy: 4_000 });
    expect(busyAt(16_000)).toBe(4);
  });

  test("are put right from the moment on at which the function is followed, and not for the time before", () => {
    report(1_000, 0, 1);
    windows.follow(key, 1_000);
    // It ended after 400 ms of that second.
    report(2_000, 1, 0, { busy: 400 });
    expect(busyAt(4_000)).toBe(0.04);
    windows.forget(key);
    report(5_000, 0, 1);
    windows.follow(key, 5_500);
    report(6_000, 1, 0, { busy: 400 });
    expect(busyAt(8_000)).toBe(0.05);
  });

  test("of a process that was given up and comes back are counted", () => {
    windows.follow(key, 0);
    report(1_000, 0, 0);
    const other = { source: "gateway-2" };
    for (const now of [2_000, 61_000, 62_000]) report(now, 0, 0, other);
    windows.settle(61_001);
    report(62_000, 1, 0, { busy: 500, number: 1 });
    expect(busyAt(64_000)).toBe(0.05);
  });

  test("are not put right by a report on a time in which they did not count", () => {
    report(1_000, 0, 4);
    windows.follow(key, 1_500);
    report(2_000, 0, 4, { busy: 0 });
    for (let second = 3; second <= 13; second++) report(second * 1_000, 0, 4, { busy: 4_000 });
    expect(busyAt(13_000)).toBe(4);
    windows.settle(16_501);
    report(17_000, 0, 4, { busy: 0 });
    expect(busyAt(19_000)).toBeCloseTo(3.8, 1);
  });
});

describe("a process", () => {
  test("that ends has no calls in flight", () => {
    windows.follow(key, 0);
    report(1_000, 0, 2);
    report(2_000, 0, 2, { last: true });
    expect(activity(2_000)?.inFlight).toBe(0);
  });

  test("with missing reports has nothing in flight, until it reports again", () => {
    windows.follow(key, 0);
    report(1_000, 0, 2);
    windows.settle(4_500);
    expect(activity(4_500)?.inFlight).toBe(2);
    windows.settle(4_501);
    windows.settle(4_600);
    expect(activity(4_600)).toMatchObject({ inFlight: 0, lastCallAt: 4_501 });
    windows.follow("late.functions", 4_700);
    expect(windows.of("late.functions", 4_700)?.inFlight).toBe(0);
    report(6_000, 0, 2);
    expect(activity(6_000)?.inFlight).toBe(2);
    expect(begun(9_000)).toBe(2);
  });

  test("with missing reports does not count for a function that is followed then", () => {
    report(1_000, 0, 2);
    windows.settle(5_000);
    windows.follow(key, 5_000);
    expect(activity(5_000)?.inFlight).toBe(0);
  });

  test("whose reports stay missing is given up, and named, if a gateway reports", () => {
    windows.follow(key, 0);
    report(1_000, 0, 2);
    report(1_000, 0, 1, { source: "gateway-2" });
    expect(windows.settle(1_000 + silenceTimeout + 1)).toEqual([]);
    report(61_000, 0, 1, { source: "gateway-2" });
    expect(windows.settle(61_000)).toEqual([]);
    expect(windows.settle(61_001)).toEqual(["gateway-1"]);
    expect(windows.settle(61_002)).toEqual([]);
    expect(windows.coverage(61_002)).toEqual({ kind: "complete", since: 61_001 });
    expect(activity(61_002)?.inFlight).toBe(1);
  });
});

describe("coverage", () => {
  const worker = { queue: "default", slots: 1, running: 0 };

  test("is missing without reports, or with those of queue-workers alone", () => {
    expect(windows.coverage(0)).toEqual({ kind: "missing", message: "no gateway reports" });
    report(1_000, 0, 0, { source: "worker-1", worker });
    expect(windows.coverage(1_000)).toEqual({ kind: "missing", message: "no gateway reports" });
    report(1_000, 0, 0);
    expect(windows.coverage(1_000)).toEqual({ kind: "complete", since: 0 });
  });

  test("is missing after 3.5 s without a report, and names the process", () => {
    report(1_000, 0, 0);
    report(4_000, 0, 0, { source: "worker-1", worker });
    expect(windows.coverage(4_500)).toEqual({ kind: "complete", since: 0 });
    expect(windows.coverage(4_501)).toEqual({ kind: "missing", message: "gateway-1 has not reported for 3 s" });
  });

  test("is complete since the last lost report, or the first report of a process", () => {
    report(1_000, 0, 0);
    report(2_000, 0, 0);
    expect(windows.coverage(2_000)).toEqual({ kind: "complete", since: 0 });
    report(4_000, 0, 0, { number: 4 });
    expect(windows.coverage(4_000)).toEqual({ kind: "complete", since: 4_000 });
    report(5_000, 0, 0);
    expect(windows.coverage(5_000)).toEqual({ kind: "complete", since: 4_000 });
    report(6_000, 0, 0, { source: "gateway-2", number: 9 });
    expect(windows.coverage(6_000)).toEqual({ kind: "complete", since: 6_000 });
    report(7_000, 0, 0, { source: "gateway-2", last: true });
    expect(windows.coverage(7_000)).toEqual({ kind: "complete", since: 4_000 });
  });

  test("no process is given up while no gateway reports", () => {
    report(1_000, 0, 0);
    report(61_001, 0, 0, { source: "worker-1", worker });
    expect(windows.settle(61_001)).toEqual([]);
  });
});
