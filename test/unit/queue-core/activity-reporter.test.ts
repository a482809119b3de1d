import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { ActivitySums, reportActivity, type ActivityTotals } from "../../../runtime/core/activity-reporter.ts";
import type { Activity, ActivityDelta } from "../../../runtime/core/ports/activity.ts";

let reports: (readonly ActivityDelta[])[];
let heard: (source: string, deltas: readonly ActivityDelta[]) => void;
const activity: Activity = {
  publish: (_source, deltas) => void reports.push(deltas),
  subscribe: (listener) => {
    heard = listener;
    return () => {
      heard = () => {};
    };
  },
};

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
  expect(reports.map(([delta]) => [delta?.finished, delta?.inFlight])).toEqual([
    [0, 0],
    [3, 1],
    [0, 1],
    [1, 0],
    [2, 0],
  ]);
});

test("adds up what others say, without the own reports", () => {
  const sums = new ActivitySums(activity, "me");
  heard("me", [{ function: "echo.functions", finished: 100, inFlight: 0 }]);
  heard("other", [{ function: "echo.functions", finished: 2, inFlight: 1 }]);
  heard("third", [{ function: "echo.functions", finished: 3, inFlight: 0 }]);
  expect(sums.finished("echo.functions")).toBe(5);
  expect(sums.finished("none.functions")).toBe(0);
  sums.close();
  heard("other", [{ function: "echo.functions", finished: 2, inFlight: 1 }]);
  expect(sums.finished("echo.functions")).toBe(5);
});
