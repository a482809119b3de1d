import { expect, test } from "vitest";

import { parseCallHeaders } from "../../../../runtime/cli/calls/call-headers.ts";

test("headers are read as they are written in a request, repeated ones into a list", () => {
  const lines = ["Accept: text/csv", "X-A:1", "x-a: 2 ", "Empty:", "Time: 12:30"];
  expect(parseCallHeaders(lines)).toEqual({ accept: "text/csv", "x-a": ["1", "2"], empty: "", time: "12:30" });
});

test.each([
  ["no colon", "it must have the form"],
  [": value", "it must have the form"],
  ["a b: c", "it must have the form"],
  ["A: b\r\nHost: c", "characters that no header can hold"],
  ["A: €", "characters that no header can hold"],
  ["Content-Length: 3", "it follows from the request itself"],
  ["transfer-encoding: chunked", "it follows from the request itself"],
  ["CONNECTION: close", "it follows from the request itself"],
])("%j is refused: %s", (line, reason) => {
  expect(() => parseCallHeaders([line])).toThrow(reason);
});
