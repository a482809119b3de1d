import { expect, test } from "vitest";

import { linePoints } from "../../../../runtime/console/parts/charts/line-points.ts";

const place = {
  from: 0,
  to: 3,
  bbox: { left: 50, top: 10, width: 300, height: 100 },
  across: { min: 1_000, max: 1_030 },
  up: { min: 0, max: 20 },
};
const times = [1_000, 1_010, 1_020, 1_030];

test("a line leads from its first time at the left to its last one at the right, greater values above", () => {
  expect(linePoints(times, [0, 20, 10, 5], place)).toEqual([
    { x: 50, y: 110, isJoined: false },
    { x: 150, y: 10, isJoined: true },
    { x: 250, y: 60, isJoined: true },
    { x: 350, y: 85, isJoined: true },
  ]);
});

test("no line leads into a hole or out of it", () => {
  const joined = linePoints(times, [0, null, 10, 5], place).map(({ x, isJoined }) => [x, isJoined]);

  expect(joined).toEqual([
    [50, false],
    [250, false],
    [350, true],
  ]);
});

test("only what is in sight is drawn, and a single moment is no division by nothing", () => {
  expect(linePoints(times, [0, 20, 10, 5], { ...place, from: 1, to: 2 })).toHaveLength(2);
  expect(linePoints([5], [3], { ...place, to: 0, across: { min: 5, max: 5 }, up: { min: 0, max: 0 } })).toEqual([
    { x: 50, y: -190, isJoined: false },
  ]);
});
