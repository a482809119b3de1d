import { expect, test } from "vitest";

import { joinHeaders, CachedHeaders } from "../../../../runtime/core/headers/cached-headers.ts";

test("a value derived from cached headers is computed once for each function", () => {
  const cached = new CachedHeaders(["A", "1"]);
  let calls = 0;
  const count = (list: readonly string[]): { readonly size: number } => {
    calls += 1;
    return { size: list.length };
  };
  expect(cached.made(count)).toBe(cached.made(count));
  expect([cached.made(count).size, calls]).toEqual([2, 1]);
  expect(cached.made((list) => list.join())).toBe("A,1");
});

test("a function that throws is called each time", () => {
  const cached = new CachedHeaders(["A", "1"]);
  const fail = (): never => {
    throw new Error("no such name");
  };
  for (let count = 0; count < 2; count += 1) expect(() => cached.made(fail)).toThrow("no such name");
});

test("cached headers come before other headers", () => {
  expect(joinHeaders(new CachedHeaders(["A", "1"]), ["B", "2"])).toEqual(["A", "1", "B", "2"]);
  expect(joinHeaders(undefined, ["B", "2"])).toEqual(["B", "2"]);
});
