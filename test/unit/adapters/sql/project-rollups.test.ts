import { expect, test } from "vitest";

import {
  projectRollups,
  rollupKeys,
  rollupKeyText,
  type NamedPoint,
} from "../../../../runtime/adapters/sql/rollups/project-rollups.ts";
import type { StoredRollup } from "../../../../runtime/adapters/sql/rollups/stored-rollup.ts";
import { historyStart } from "../../../support/history-calls.ts";

function point(seconds: number, over: Partial<NamedPoint> = {}): NamedPoint {
  const at = historyStart + 1_000 * seconds;
  return {
    fn: 1,
    source: 7,
    point: { namespace: "functions", name: "echo", source: "gateway", at, calls: [0, 2, 0, 0, 1] },
    ...over,
  };
}

test("a point changes the intervals of each step, of its function and of all; points of one interval add up", () => {
  const points = [point(0), point(10), point(0, { fn: 2 })];
  expect(rollupKeys(points)).toHaveLength(11);
  const rows = projectRollups(points, 0, new Map());
  const calls = Object.fromEntries(rows.map((row) => [rollupKeyText(row), row.calls]));
  const minute = historyStart;
  expect(calls).toEqual({
    [`0/1/${minute}/7`]: 3,
    [`0/1/${minute + 10_000}/7`]: 3,
    [`0/2/${minute}/7`]: 3,
    [`0/0/${minute}/7`]: 6,
    [`0/0/${minute + 10_000}/7`]: 3,
    [`1/1/${minute}/7`]: 6,
    [`1/2/${minute}/7`]: 3,
    [`1/0/${minute}/7`]: 9,
    [`2/1/${minute}/7`]: 6,
    [`2/2/${minute}/7`]: 3,
    [`2/0/${minute}/7`]: 9,
  });
});

test("a point that is stored, comes twice, or is older than what is kept changes nothing", () => {
  const stored = new Map<string, StoredRollup>([[`0/1/${historyStart}/7`, { c: [0, 2, 0, 0, 1] }]]);
  expect(projectRollups([point(0)], 0, stored)).toEqual([]);
  expect(projectRollups([point(0)], historyStart + 1, new Map())).toEqual([]);
  expect(projectRollups([point(0), point(0)], 0, new Map())).toEqual(projectRollups([point(0)], 0, new Map()));
});

test("a scaling is of its function alone", () => {
  const scalings = [{ at: historyStart, from: 0, to: 1, reason: "wake", message: "a call waits" }];
  const { point: plain } = point(0);
  const rows = projectRollups([point(0, { point: { ...plain, scalings } })], 0, new Map());
  for (const { fn, counts } of rows) expect([fn, counts.g]).toEqual([fn, fn === 0 ? undefined : scalings]);
});
