import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { shapeFault } from "../../../../../runtime/gateway/rest/json/json-shape.ts";

describe("shapeFault()", () => {
  test.each([
    ["{}", "nothing"],
    ['{"a":{"a":1},"b":[{"a":1},{"a":2}]}', "a key again in another object"],
    ['{"a":"x\\"}{[,:","b":"\\\\"}', "signs within strings"],
    [`${"[".repeat(32)}${"]".repeat(32)}`, "32 levels"],
    [`[${"1,".repeat(19_998)}1]`, "20000 values"],
    ['"no end', "a string without end: the parser says so"],
  ])("%.40s passes: %s", (text) => {
    expect(shapeFault(text)).toBeUndefined();
  });

  test.each([
    ['{"a":1,"a":2}', 'key "a" comes twice'],
    ['{"a":1, "\\u0061" :2}', 'key "a" comes twice'],
    ['[{"b":{"a":1},"b":2}]', 'key "b" comes twice'],
    ['{"__proto__":1}', 'key "__proto__" is not allowed'],
    ['{"\\u005f_proto__":1}', 'key "__proto__" is not allowed'],
    ['{"a":[{"constructor":1}]}', 'key "constructor" is not allowed'],
    [`${"[".repeat(33)}${"]".repeat(33)}`, "it is nested deeper than 32 levels"],
    [`[${"{},".repeat(10_000)}{}]`, "it has more than 20000 values"],
    [`{${Array.from({ length: 20_001 }, (_, key) => `"${key}":`).join("")}`, "it has more than 20000 values"],
    ['{"a":1:2}', "it is not JSON"],
    ['{"\\&":1}', "it is not JSON"],
  ])("%.40s: %s", (text, fault) => {
    expect(shapeFault(text)).toBe(fault);
  });

  test("the output of JSON.stringify has no fault", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
        const text = JSON.stringify(value);
        if (!/__proto__|constructor/.test(text)) expect(shapeFault(text)).toBeUndefined();
      }),
    );
  });
});
