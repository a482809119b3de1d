import { expect, test } from "vitest";

import { missesBar, needsAnotherRun } from "../../../bench/check-runs.ts";

const bar = { firstBar: 0.4 };
const runs = (...medians: readonly number[]) => medians.map((median) => ({ judged: { median } }));

test.each([
  [[0.5], true],
  [[0.5, 0.4], false],
  [[0.3, 0.2], false],
  [[0.3, 0.5], true],
  [[0.3, 0.5, 0.3], false],
])("after runs of %j another run is needed: %j", (medians, expected) => {
  expect(needsAnotherRun(bar, runs(...medians))).toBe(expected);
});

test.each([
  [[0.5, 0.5], false],
  [[0.3, 0.3], true],
  [[0.3, 0.5, 0.5], false],
  [[0.5, 0.3, 0.3], true],
])("the median of %j and possible later runs misses the bar: %j", (medians, expected) => {
  expect(missesBar(bar, runs(...medians))).toBe(expected);
});

test("where less is better, the highest value is the worst", () => {
  const limit = { firstBar: 60, lessIsBetter: true } as const;
  expect(missesBar(limit, runs(70, 61))).toBe(true);
  expect(missesBar(limit, runs(70, 59, 60))).toBe(false);
});
