import { expect, test } from "vitest";

import {
  checkHeaderName,
  checkHeaderValue,
  UnsendableHeader,
  writeHeaders,
} from "../../../runtime/http1/write-headers.ts";

test("each header is a line, and one without a value is dropped", () => {
  const list = ["Host", "h", "X-Own", "", "X-Odd"];
  expect(writeHeaders(list)).toEqual({ lines: "Host: h\r\nX-Own: \r\n", hasLength: false, hasDate: false });
  expect(writeHeaders([]).lines).toBe("");
});

test.each([
  [["Content-Length", "0"], true, false],
  [["CONTENT-LENGTH", "0", "X-Content-Type", "a"], true, false],
  [["date", "d", "etag", "e"], false, true],
  [["X-Content-Type", "a", "ETag", "e", "Content-Lengths", "1", "Dates", "d"], false, false],
  [["Date", "d", "Content-Length", "0"], true, true],
])("%j: with a length %s, with a date %s", (list, hasLength, hasDate) => {
  expect(writeHeaders(list)).toMatchObject({ hasLength, hasDate });
});

test("every name is checked, and an invalid value is refused with its name", () => {
  const names: string[] = [];
  writeHeaders(["A", "1", "B", "2"], (name) => void names.push(name));
  expect(names).toEqual(["A", "B"]);
  const refuse = (): never => {
    throw new Error("no such name");
  };
  expect(() => writeHeaders(["A", "1"], refuse)).toThrow("no such name");
  for (const [list, message] of [
    [["X-Own", "a\r\nb"], 'Cannot send header "X-Own": its value has a forbidden byte'],
    [["X-Own", "a\u010ab"], 'Cannot send header "X-Own": its value has a forbidden byte'],
    [["X Own", "a"], 'Cannot send header "X Own": its name is not a token'],
  ] as const) {
    expect(() => writeHeaders(list)).toThrow(new UnsendableHeader(message));
  }
  expect(() => checkHeaderValue("X-Own", "a b\tc")).not.toThrow();
});

test("an invalid name is refused each time", () => {
  for (let count = 0; count < 2; count += 1) expect(() => checkHeaderName("X:")).toThrow(UnsendableHeader);
  for (let count = 0; count < 2; count += 1) expect(() => checkHeaderName("X-Own")).not.toThrow();
});
