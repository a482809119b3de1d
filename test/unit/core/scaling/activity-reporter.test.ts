import { afterEach, beforeEach, expect, test, vi } from "vitest";

import {
  ActivitySums,
  reportActivity,
  type ActivityTotals,
} from "../../../../runtime/core/scaling/activity-reporter.ts";
import type {
  Activity,
  ActivityDelta,
  ActivityListener,
  ActivityReport,
} from "../../../../runtime/core/ports/activity.ts";

let reports: ActivityReport[];
let tell: ActivityListener;
const heard = (source: string, deltas: readonly ActivityDelta[]): void => tell({ source, number: 1, deltas });
const activity: Activity = {
  publish: (report) => void reports.push(report),
  subscribe: (listener, except) => {
    tell = (report) => {
      if (report.source !== except) listener(report);
    };
    return () => {
      tell = () => {};
    };
  },
};

const pairOf = ({ finished, inFlight }: ActivityDelta): number[] => [finished, inFlight];

beforeEach(() => {
  reports = [];
  vi.useFakeTimers();
});
afterEach(() => void vi.useRealTimers());

test("once a second what changed, and what is in flight whether it changed or not; a last time at the end", () => {
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

test("a function that was removed and made again is counted anew", () => {
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

test("a function that goes leaves what was said of the others as it is", () => {
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

test("adds up what others say, without the own reports", () => {
  const sums = new ActivitySums(activity, "me");
  heard("me", [{ function: "echo.functions", finished: 100, inFlight: 0 }]);
  heard("other", [{ function: "echo.functions", finished: 2, inFlight: 1 }]);
  heard("third", [{ function: "echo.functions", finished: 3, inFlight: 0 }]);
  expect(sums.finished("echo.functions")).toBe(5);
  expect(sums.finished("none.functions")).toBe(0);
  sums.forget("echo.functions");
  expect(sums.finished("echo.functions")).toBe(0);
  heard("other", [{ function: "echo.functions", finished: 2, inFlight: 1 }]);
  sums.close();
  heard("other", [{ function: "echo.functions", finished: 2, inFlight: 1 }]);
  expect(sums.finished("echo.functions")).toBe(2);
});

test("a queue-worker says each second what it does, soon when it changed, and at its end that it is gone", () => {
  const said: ActivityReport["worker"][] = [];
  let worker = { queue: "slow", slots: 2, running: 0 };
  const own: Activity = { ...activity, publish: ({ worker: report }) => void said.push(report) };
  const end = reportActivity(
    own,
    "me",
    () => [],
    () => worker,
  );
  vi.advanceTimersByTime(3_000);
  const idle = said.length;
  expect(idle).toBeGreaterThanOrEqual(3);
  expect(idle).toBeLessThanOrEqual(4);
  worker = { ...worker, running: 2 };
  vi.advanceTimersByTime(250);
  expect(said.slice(idle)).toEqual([worker]);
  vi.advanceTimersByTime(250);
  expect(said).toHaveLength(idle + 1);
  worker = { ...worker, slots: 3 };
  vi.advanceTimersByTime(250);
  expect(said.at(-1)).toEqual(worker);
  end();
  expect(said.at(-1)).toEqual({ queue: "slow", slots: 0, running: 0 });
  const all = said.length;
  worker = { ...worker, running: 0 };
  vi.advanceTimersByTime(5_000);
  expect(said).toHaveLength(all);
});
