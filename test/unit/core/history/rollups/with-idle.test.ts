import { expect, test } from "vitest";

import { rollupSeries } from "../../../../../runtime/core/history/rollups/rollup-series.ts";
import type { RollupPoint, RollupSeries } from "../../../../../runtime/core/history/rollups/rollup.ts";
import { withIdle } from "../../../../../runtime/core/history/rollups/with-idle.ts";

const since = 1_800_000_000_000;
const length = 10_000;
const hello = { namespace: "functions", name: "hello" };

/** Six intervals with a point in each of these. */
function seriesOf(points: readonly (Partial<RollupPoint> & { readonly index: number })[]): RollupSeries {
  const all = points.map(({ index, ...values }) => ({
    ...hello,
    source: "gateway",
    at: since + index * length,
    ...values,
  }));
  const query = { functions: [hello], step: "10s", since, until: since + 6 * length } as const;
  const [series] = rollupSeries(all, query);
  return series ?? expect.fail("there is no series");
}

const noCall = { calls: [0, 0, 0, 0, 0] };
/** Calls were counted in all intervals but the fifth. */
const counted = seriesOf([0, 1, 2, 3, 5].map((index) => ({ index, ...noCall })));
const calls = [0, 3, 0, 0, 1];
const times = { since, length };

test("between its figures a function was there: without a figure it had 0 calls, where calls were counted", () => {
  const series = seriesOf([
    { index: 1, calls, replicas: 1 },
    { index: 5, calls },
  ]);
  const filled = withIdle(series, counted, times);
  expect(filled.calls).toEqual([null, 4, 0, 0, null, 4]);
  expect([filled.errors, filled.coldStarts]).toEqual([
    [null, 1, 0, 0, null, 1],
    [null, null, 0, 0, null, null],
  ]);
  expect(filled.inFlight).toEqual([null, null, 0, 0, null, null]);
  // How many replicas there were, and how long a call would have taken, is not known.
  expect([filled.replicas, filled.p95]).toEqual([series.replicas, series.p95]);
});

test("a function that is there was so from its deployment on", () => {
  expect(withIdle(seriesOf([]), counted, times, since + 2 * length).calls).toEqual([null, null, 0, 0, null, 0]);
  expect(withIdle(seriesOf([]), counted, times, since + 2 * length - 1).calls).toEqual([null, 0, 0, 0, null, 0]);
  expect(withIdle(seriesOf([]), counted, times, since - length).calls).toEqual([0, 0, 0, 0, null, 0]);
});

test("of a function that is gone, and of times in which nothing was counted, nothing is known", () => {
  expect(withIdle(seriesOf([]), counted, times)).toEqual(seriesOf([]));
  expect(withIdle(seriesOf([{ index: 2, calls }]), counted, times).calls).toEqual([null, null, 4, null, null, null]);
  const series = seriesOf([{ index: 2, calls }]);
  expect(withIdle(series, seriesOf([]), times, since - length)).toEqual(series);
});

test("in an interval with calls nothing else is made known", () => {
  const series = seriesOf([1, 3, 5].map((index) => ({ index, calls })));
  const busy = seriesOf([0, 1, 2, 3, 4, 5].map((index) => ({ index, calls: [0, 9, 0, 0, 0] })));
  const filled = withIdle(series, busy, times);
  expect(filled.calls).toEqual([null, 4, 0, 4, 0, 4]);
  expect(filled.coldStarts).toEqual([null, null, 0, null, 0, null]);
});

test("a function that is gone was there in the intervals of its first and its last figure, too", () => {
  const series = seriesOf([
    { index: 1, replicas: 1 },
    { index: 3, queued: 0 },
  ]);
  expect(withIdle(series, counted, times).calls).toEqual([null, 0, 0, 0, null, null]);
});
