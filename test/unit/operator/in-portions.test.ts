import { expect, test } from "vitest";

import { inPortions } from "../../../runtime/operator/in-portions.ts";

test.each([
  [0, 60],
  [1, 60],
  [59, 60],
  [61, 60],
  [12_345, 60],
])("%i items in %i portions are complete, in order, and evenly spread", (length, count) => {
  const items = Array.from({ length }, (_, index) => index);
  const portions = inPortions(items, count);
  expect(portions).toHaveLength(count);
  expect(portions.flat()).toEqual(items);
  const sizes = portions.map((portion) => portion.length);
  expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
});
