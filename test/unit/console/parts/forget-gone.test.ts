import { expect, test } from "vitest";

import { forgetGone } from "../../../../runtime/console/parts/tables/forget-gone.ts";

const keyFrom =
  (first: number) =>
  (index: number): string =>
    `row ${first + index}`;

function heightsOf(count: number): Map<string | number | bigint, number> {
  return new Map(Array.from({ length: count }, (_, index) => [keyFrom(0)(index), 24 + index]));
}

test("heights of rows that are gone are removed, once there are twice as many as rows", () => {
  const heights = heightsOf(1_000);
  forgetGone(heights, 400, keyFrom(600));
  expect(heights.size).toBe(400);
  expect(heights.get("row 600")).toBe(624);
  expect(heights.get("row 999")).toBe(1_023);
  expect(heights.has("row 599")).toBe(false);
});

test("until then nothing is looked at", () => {
  const heights = heightsOf(900);
  forgetGone(heights, 400, () => {
    throw new Error("a key was asked for");
  });
  expect(heights.size).toBe(900);
});

test("heights of rows that are there all stay, in a list of no row as well", () => {
  const heights = heightsOf(300);
  forgetGone(heights, 300, keyFrom(0));
  expect(heights.size).toBe(300);
  forgetGone(heights, 0, keyFrom(0));
  expect(heights.size).toBe(0);
});
