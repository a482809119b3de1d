import { describe, expect, test } from "vitest";

import { headerValue, joinedValue, withoutHeaders } from "../../../../runtime/core/headers/header-list.ts";

const headers = ["Accept", "text/html", "X-Name", "accept", "ACCEPT", "text/plain", "x-empty", ""];

describe("headerValue()", () => {
  test("is the first value of a name in any spelling", () => {
    expect(headerValue(headers, "accept")).toBe("text/html");
    expect(headerValue(headers, "x-empty")).toBe("");
  });

  test.each([["text/html"], ["host"], ["x-alone"]])("there is none of %j", (name) => {
    expect(headerValue([...headers, "X-Alone"], name)).toBeUndefined();
  });
});

describe("joinedValue()", () => {
  test("is all values of a name in any spelling, as one list", () => {
    expect(joinedValue(headers, "accept")).toBe("text/html, text/plain");
    expect(joinedValue(headers, "x-name")).toBe("accept");
    expect(joinedValue(headers, "x-empty")).toBe("");
    expect(joinedValue(["A", "", "a", "1"], "a")).toBe(", 1");
  });

  test.each([["text/html"], ["host"], ["x-alone"]])("there is none of %j", (name) => {
    expect(joinedValue([...headers, "X-Alone"], name)).toBeUndefined();
  });
});

test("withoutHeaders() drops by lower-case name, and keeps spelling and order of the rest", () => {
  expect(withoutHeaders(headers, new Set(["accept", "text/plain"]))).toEqual(["X-Name", "accept", "x-empty", ""]);
  expect(withoutHeaders(headers, new Set())).toEqual(headers);
});
