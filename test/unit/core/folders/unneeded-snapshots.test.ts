import { expect, test } from "vitest";

import { unneededSnapshots } from "../../../../runtime/core/folders/unneeded-snapshots.ts";

const known = [5, 1, 4, 2, 3, 6].map((lastUsedAt) => ({ name: `s${lastUsedAt}`, lastUsedAt }));

test("of those that nothing needs, the three used last are kept", () => {
  expect(unneededSnapshots(known, new Set())).toEqual(["s3", "s2", "s1"]);
});

test("those that are needed stay however old they are, and do not count among the three", () => {
  expect(unneededSnapshots(known, new Set(["s1", "s6"]))).toEqual(["s2"]);
  expect(unneededSnapshots(known, new Set(["s1", "s2", "s3"]))).toEqual([]);
});
