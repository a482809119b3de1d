import { describe, expect, test } from "vitest";

import { callPath, parseCallTarget, parseFunctionName } from "../../../../runtime/cli/calls/call-target.ts";

describe("parseCallTarget()", () => {
  test.each([
    ["hello", [], "hello"],
    ["hello.dev", [], "hello.dev"],
    ["hello/", [], "hello/"],
    ["hello/a/../b%2e%2E//c", [], "hello/a/../b%2e%2E//c"],
    ["hello.dev/a.b/c?x=1&y", [], "hello.dev/a.b/c?x=1&y"],
    ["hello?x=a.b/c", [], "hello?x=a.b/c"],
    ["hello/ä b#c\\", [], "hello/%C3%A4%20b%23c\\"],
    ["hello/a\r\nHost: b", [], "hello/a%0D%0AHost:%20b"],
    ["hello/\ud800", [], "hello/%EF%BF%BD"],
    ["hello", ["x=1", "y=a b&c=d", "z"], "hello?x=1&y=a%20b%26c%3Dd&z"],
    ["hello/a?x=1", ["y="], "hello/a?x=1&y="],
  ])("reads %j with the parameters %j as %j", (text, parameters, path) => {
    expect(callPath(parseCallTarget(text, parameters))).toBe(path);
  });

  test.each(["", "/a", "Hello", "a_b", "-a", "../x", "a b", "a".repeat(64), "%2e%2e/x", "?x=1"])(
    "refuses the name in %j",
    (text) => {
      expect(() => parseCallTarget(text, [])).toThrow(/^Cannot use function name ".*": only a to z/);
    },
  );
});

describe("parseFunctionName()", () => {
  test("takes what follows the last dot for the namespace", () => {
    expect(parseFunctionName("hello")).toEqual({ name: "hello", namespace: undefined });
    expect(parseFunctionName("hello.dev")).toEqual({ name: "hello", namespace: "dev" });
  });

  test.each(["hello.", "hello.Dev", "a.b.c", "hello/x"])("refuses %j", (text) => {
    expect(() => parseFunctionName(text)).toThrow(/^Cannot use (?:function name|namespace) ".*": only a to z/);
  });
});
