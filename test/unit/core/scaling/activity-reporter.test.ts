import { afterEach, beforeEach, expect, test, vi } from "vitest";

import {
  ActivitySums,
  reportActivity,
  type ActivityTotals,
} from "../../../../runtime/core/scaling/activity-reporter.ts";
import { CallTotals } from "../../../../runtime/process/metrics/call-totals.ts";
import type {
  Activity,
  ActivityDelta,
  ActivityListener,
  ActivityReport,
} from "../../../../runtime/core/ports/activity.ts";

let reports: ActivityReport[];
let notify: ActivityListener;
const receive = (source: string, deltas: readonly ActivityDelta[]): void => notify({ source, number: 1, deltas });
const activity: Activity = {
  publish: (report) => void reports.push(report),
  subscribe: (listener, except) => {
    notify = (report) => {
      if (report.source !== except) listener(report);
    };
    return () => {
      notify = () => {};
    };
  },
};

const pairOf = ({ finished, inFlight }: ActivityDelta): number[] => [finished, inFlight];

beforeEach(() => {
  reports = [];
  vi.useFakeTimers();
});
afterEach(() => void vi.useRealTimers());

test("reports once a second what changed and what is in flight, and a last time at the end", () => {
  const totals = new Map<string, ActivityTotals>([["echo.functions", { finished: 0, inFlight: 0 }]]);
  const end = reportActivity(activity, "me", () => totals);
  vi.advanceTimersByTime(1_000);
  totals.set("echo.functions", { finished: 3, inFlight: 1 });
  vi.advanceTimersByTime(2_000);
  totals.set("echo.functions", { finished: 4, inFlight: 0 });
  vi.advanceTimersByTime(3_000);
  totals.set("echo.functions", { finished: 6, inFlight: 0 });
  end();
  vi.advanceTimersByTime(5_000);
  expect(reports.map(({ number, last, deltas }) => [number, last, ...deltas.flatMap(pairOf)])).toEqual([
    [1, undefined, 0, 0],
    [2, undefined, 3, 1],
    [3, undefined, 0, 1],
    [4, undefined, 1, 0],
    [5, undefined],
    [6, undefined],
    [7, true, 2, 0],
  ]);
});

test("a function that was removed and created again is counted from 0", () => {
  const totals = new Map<string, ActivityTotals>([["echo.functions", { finished: 100, inFlight: 0 }]]);
  const end = reportActivity(activity, "me", () => totals);
  vi.advanceTimersByTime(1_000);
  totals.set("echo.functions", { finished: 2, inFlight: 0 });
  vi.advanceTimersByTime(1_000);
  totals.clear();
  vi.advanceTimersByTime(1_000);
  totals.set("echo.functions", { finished: 5, inFlight: 0 });
  vi.advanceTimersByTime(1_000);
  end();
  expect(reports.map(({ deltas }) => deltas.map(({ finished }) => finished))).toEqual([[100], [2], [], [5], []]);
});

test("time in flight is reported in whole milliseconds, the rest with the next report", () => {
  const begin = performance.now();
  const totals = new CallTotals();
  const all = new Map<string, ActivityTotals>([["echo.functions", totals]]);
  const end = reportActivity(activity, "me", () => all);
  totals.begin(begin + 100.4);
  vi.advanceTimersByTime(1_000);
  totals.end(begin + 1_200.4);
  totals.begin(begin + 1_500.3);
  vi.advanceTimersByTime(1_000);
  all.set("echo.functions", new CallTotals());
  vi.advanceTimersByTime(1_000);
  end();
  expect(reports.map(({ deltas }) => deltas.map(({ busy }) => busy))).toEqual([[900], [700], [0], []]);
});

test("the removal of a function does not change the counts of the others", () => {
  const totals = new Map<string, ActivityTotals>([
    ["echo.functions", { finished: 5, inFlight: 0 }],
    ["gone.functions", { finished: 7, inFlight: 0 }],
  ]);
  const end = reportActivity(activity, "me", () => totals);
  vi.advanceTimersByTime(1_000);
  totals.delete("gone.functions");
  vi.advanceTimersByTime(1_000);
  totals.set("echo.functions", { finished: 6, inFlight: 0 });
  totals.set("gone.functions", { finished: 8, inFlight: 0 });
  end();
  expect(reports.map(({ deltas }) => deltas.map(({ finished }) => finished))).toEqual([[5, 7], [], [1, 8]]);
});

test("sums the reports of others, without its own", () => {
  const sums = new ActivitySums(activity, "me");
  receive("me", [{ function: "echo.functions", finished: 100, inFlight: 0 }]);
  receive("other", [{ function: "echo.functions", finished: 2, inFlight: 1 }]);
  receive("third", [{ function: "echo.functions", finished: 3, inFlight: 0 }]);
  expect(sums.finished("echo.functions")).toBe(5);
  expect(sums.finished("none.functions")).toBe(0);
  sums.forget("echo.functions");
  expect(sums.finished("echo.functions")).toBe(0);
  receive("other", [{ function: "echo.functions", finished: 2, inFlight: 1 }]);
  sums.close();
  receive("other", [{ function: "echo.functions", finished: 2, inFlight: 1 }]);
  expect(sums.finished("echo.functions")).toBe(2);
});

test("a queue-worker reports each second, soon after a change, and at its end that it is gone", () => {
  const reported: ActivityReport["worker"][] = [];
  let worker = { queue: "slow", slots: 2, running: 0 };
  const own: Activity = { ...activity, publish: ({ worker: report }) => void reported.push(report) };
  const end = reportActivity(
    own,
    "me",
    () => [],
    () => worker,
  );
  vi.advanceTimersByTime(3_000);
  const idle = reported.length;
  expect(idle).toBeGreaterThanOrEqual(3);
  expect(idle).toBeLessThanOrEqual(4);
  worker = { ...worker, running: 2 };
  vi.advanceTimersByTime(250);
  expect(reported.slice(idle)).toEqual([worker]);
  vi.advanceTimersByTime(250);
  expect(reported).toHaveLength(idle + 1);
  worker = { ...worker, slots: 3 };
  vi.advanceTimersByTime(250);
  expect(reported.at(-1)).toEqual(worker);
  end();
  expect(reported.at(-1)).toEqual({ queue: "slow", slots: 0, running: 0 });
  const all = reported.length;
  worker = { ...worker, running: 0 };
  vi.advanceTimersByTime(5_000);
  expect(reported).toHaveLength(all);
});

test("calls that failed since the last report are told, and left out if there are none", () => {
  const totals = new Map<string, ActivityTotals>();
  const end = reportActivity(activity, "me", () => totals);
  const steps: ActivityTotals[] = [
    { finished: 5, failed: 2, inFlight: 0 },
    { finished: 9, failed: 3, inFlight: 0 },
    { finished: 12, failed: 3, inFlight: 0 },
    // Removed and created again.
    { finished: 4, failed: 1, inFlight: 0 },
    { finished: 3, failed: 0, inFlight: 0 },
  ];
  for (const step of steps) {
    totals.set("echo.functions", step);
    vi.advanceTimersByTime(1_000);
  }
  end();
  const key = "echo.functions";
  expect(reports.flatMap(({ deltas }) => deltas)).toStrictEqual([
    { function: key, finished: 5, failed: 2, inFlight: 0 },
    { function: key, finished: 4, failed: 1, inFlight: 0 },
    { function: key, finished: 3, inFlight: 0 },
    { function: key, finished: 4, failed: 1, inFlight: 0 },
    { function: key, finished: 3, inFlight: 0 },
  ]);
});

test("the time in flight of a function that was removed and created again is counted from 0", () => {
  const totals = new Map<string, ActivityTotals>();
  const end = reportActivity(activity, "me", () => totals);
  totals.set("echo.functions", { finished: 9, inFlight: 0, busyUntil: () => 5_000 });
  vi.advanceTimersByTime(1_000);
  totals.set("echo.functions", { finished: 1, inFlight: 0, busyUntil: () => 700 });
  vi.advanceTimersByTime(1_000);
  end();
  expect(reports.flatMap(({ deltas }) => deltas.map(({ busy }) => busy))).toEqual([5_000, 700]);
});
