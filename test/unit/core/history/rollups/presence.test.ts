import { expect, test } from "vitest";

import { isFunction, presence } from "../../../../../runtime/core/history/rollups/presence.ts";

test("only what has a name and a namespace is a function", () => {
  expect(isFunction({ namespace: "functions", name: "hello" })).toBe(true);
  expect(isFunction({ ...presence })).toBe(false);
});
