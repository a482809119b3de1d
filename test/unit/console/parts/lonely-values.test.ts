import { expect, test } from "vitest";

import { lonelyValues } from "../../../../runtime/console/parts/charts/lonely-values.ts";

test.each([
  [
    [1, null, 2, 3, null, 4],
    [0, 5],
  ],
  [[null, 1, null], [1]],
  [[1, 2], []],
  [[1], [0]],
  [[], []],
  [[null, undefined], []],
])("of %j those at %j have a point, as no line leads there", (values, alone) => {
  expect(lonelyValues(values)).toEqual(alone);
});
