import { expect, test } from "vitest";

import { DurationCells, durationCellCount } from "../../../../../runtime/core/history/rollups/duration-cells.ts";

function cellsOf(...all: readonly (readonly number[])[]): DurationCells {
  const cells = new DurationCells();
  for (const one of all) cells.add(one);
  return cells;
}

test("there is nothing at first, and nothing comes of nothing", () => {
  expect([cellsOf().total, cellsOf().sparse(), cellsOf().quantile(1)]).toEqual([0, [], null]);
  const cells = cellsOf([3, 1], []);
  expect([cells.total, cells.sparse()]).toEqual([1, [3, 1]]);
});

test("counts of one point are taken as they are, without a copy", () => {
  const counts = [0, 1, 75, 2];
  expect(cellsOf(counts).sparse()).toBe(counts);
  expect(cellsOf(counts).total).toBe(3);
});

test.each([
  [[5, 1, 3, 2], [3, 2, 5, 1], "are out of order"],
  [[3, 1, 3, 2], [3, 3], "name a cell twice"],
  [[3, 1, 75, 1, 76, 2, 99, 4], [3, 1, 75, 7], "are beyond the last cell"],
  [[74, 1, 76, 2], [74, 1, 75, 2], "are of the first that is beyond the last cell"],
  [[3, 1, 5], [3, 1], "break off"],
  [[3, 0, 5, 1], [3, 0, 5, 1], "are 0 of one point"],
])("%j is kept as %j: they %s", (durations, expected) => {
  expect(cellsOf(durations).sparse()).toEqual(expected);
});

test.each([
  [
    [1, 1, 3, 1],
    [2, 5],
    [1, 1, 2, 5, 3, 1],
  ],
  [
    [2, 5],
    [1, 1, 3, 1],
    [1, 1, 2, 5, 3, 1],
  ],
  [
    [1, 1, 2, 2],
    [1, 3, 2, 4],
    [1, 4, 2, 6],
  ],
  [
    [1, 1],
    [2, 1, 75, 1],
    [1, 1, 2, 1, 75, 1],
  ],
  [
    [75, 1],
    [0, 1],
    [0, 1, 75, 1],
  ],
  [
    [1, 1],
    [5, 1, 3, 2],
    [1, 1, 3, 2, 5, 1],
  ],
])("%j and %j are %j", (one, other, expected) => {
  const cells = cellsOf(one, other);
  expect(cells.sparse()).toEqual(expected);
  expect(cells.total).toBe(expected.filter((_count, index) => index % 2 === 1).reduce((sum, count) => sum + count, 0));
});

test("each cell has its duration: four up to 1 ms, then four for each doubling", () => {
  const middleOf = (cell: number): number | null => cellsOf([cell, 1]).quantile(0.5);
  expect([0, 1, 2, 3].map(middleOf)).toEqual([0.13, 0.38, 0.63, 0.88]);
  expect([4, 5, 6, 7].map(middleOf)).toEqual([1.09, 1.3, 1.54, 1.83]);
  expect([8, 12].map(middleOf)).toEqual([2.18, 4.36]);
  expect(middleOf(durationCellCount - 1)).toBeCloseTo(2 ** 17.875, 1);
});

test("a quantile is the cell in which as many have ended", () => {
  const cells = cellsOf([0, 1, 4, 2, 8, 1]);
  expect([0, 0.25, 0.26, 0.5, 0.75, 0.76, 1].map((q) => cells.quantile(q))).toEqual([
    0.13, 0.13, 1.09, 1.09, 1.09, 2.18, 2.18,
  ]);
});
