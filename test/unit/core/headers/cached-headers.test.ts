import { expect, test } from "vitest";

import { joinHeaders, CachedHeaders } from "../../../../runtime/core/headers/cached-headers.ts";

test("what is made of repeated headers is made once for each who makes something of them", () => {
  const repeated = new CachedHeaders(["A", "1"]);
  let made = 0;
  const count = (list: readonly string[]): { readonly size: number } => {
    made += 1;
    return { size: list.length };
  };
  expect(repeated.made(count)).toBe(repeated.made(count));
  expect([repeated.made(count).size, made]).toEqual([2, 1]);
  expect(repeated.made((list) => list.join())).toBe("A,1");
});

test("a list that cannot be made anything of fails each time", () => {
  const repeated = new CachedHeaders(["A", "1"]);
  const fail = (): never => {
    throw new Error("no such name");
  };
  for (let count = 0; count < 2; count += 1) expect(() => repeated.made(fail)).toThrow("no such name");
});

test("repeated headers stand before the own ones", () => {
  expect(joinHeaders(new CachedHeaders(["A", "1"]), ["B", "2"])).toEqual(["A", "1", "B", "2"]);
  expect(joinHeaders(undefined, ["B", "2"])).toEqual(["B", "2"]);
});
