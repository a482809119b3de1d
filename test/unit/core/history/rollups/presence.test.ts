import { expect, test } from "vitest";

import { isFunctionName, isNamespaceName } from "../../../../../runtime/api/grammar.ts";
import { isFunction, presence } from "../../../../../runtime/core/history/rollups/presence.ts";

test("only what has a name and a namespace is a function", () => {
  expect(isFunction({ namespace: "functions", name: "hello" })).toBe(true);
  expect(isFunction({ ...presence })).toBe(false);
});

test("what stands for no function is stored with empty names, which no function has", () => {
  expect(presence).toEqual({ namespace: "", name: "" });
  expect([isNamespaceName(presence.namespace), isFunctionName(presence.name)]).toEqual([false, false]);
});
