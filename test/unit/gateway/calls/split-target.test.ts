import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { functionPrefix, splitTarget } from "../../../../runtime/gateway/calls/split-target.ts";

const split = (rest: string) => splitTarget(`${functionPrefix}${rest}`, functionPrefix);

describe("splitTarget()", () => {
  test.each([
    ["hello", "hello", undefined, "", undefined],
    ["hello.dev", "hello", "dev", "", undefined],
    ["hello/", "hello", undefined, "/", undefined],
    ["hello.dev/a%2Fb//c/../d?x=1?y", "hello", "dev", "/a%2Fb//c/../d", "x=1?y"],
    ["hello?", "hello", undefined, "", ""],
    ["hello?a/b.c", "hello", undefined, "", "a/b.c"],
    ["a-b-1.x", "a-b-1", "x", "", undefined],
  ])("%s", (rest, name, namespace, path, query) => {
    expect(split(rest)).toEqual({
      key: namespace === undefined ? name : `${name}.${namespace}`,
      name,
      namespace,
      path,
      query,
    });
  });

  test.each([
    "",
    "/",
    "?x",
    ".",
    ".ns",
    ".openfaas-fn",
    "hello.",
    "a.b.c",
    "%2e%2e",
    "hello%2f",
    "..",
    "../system/info",
    "Hello",
    "hello.Dev",
    "/hello",
    "hello\\x",
    "hello;a=1",
    "-a",
    "a-",
    "a_b",
    "é",
    "__proto__",
    "a".repeat(64),
    `a.${"b".repeat(64)}`,
    "*",
    ">",
  ])("%s names no function", (rest) => {
    expect(split(rest)).toBeUndefined();
  });

  test("name, path and query of an accepted target make it up again, and the path never leaves the function", () => {
    const any = fc.string({ unit: fc.constantFrom(...Array.from("ab.-/?%#;\\A0_~")), maxLength: 30 });
    const some = fc.tuple(fc.constantFrom("", "a/", "a?", "a-0.b/", "a"), any).map((parts) => parts.join(""));
    let accepted = 0;
    fc.assert(
      fc.property(some, (rest) => {
        const found = split(rest);
        if (found === undefined) return;
        accepted += 1;
        const again = `${found.key}${found.path}${found.query === undefined ? "" : `?${found.query}`}`;
        expect(again).toBe(rest);
        expect(found.path).toMatch(/^(?:\/[^?]*)?$/);
        expect(found.key).toMatch(/^[a-z0-9-]+(\.[a-z0-9-]+)?$/);
      }),
    );
    expect(accepted).toBeGreaterThan(0);
  });
});
