import { expect, test } from "vitest";

import {
  checkHeaderValue,
  joinHeaders,
  CachedHeaders,
  writeHeaders,
  type WrittenHeaders,
} from "../../../../runtime/core/headers/cached-headers.ts";

const anyName = (): void => {};

test("each header is a line, and one without a value is dropped", () => {
  const list = ["Host", "h", "X-Own", "", "X-Odd"];
  expect(writeHeaders(list, anyName)).toEqual({ lines: "Host: h\r\nX-Own: \r\n", hasLength: false, hasDate: false });
  expect(writeHeaders([], anyName).lines).toBe("");
});

test.each([
  [["Content-Length", "0"], true, false],
  [["CONTENT-LENGTH", "0", "X-Content-Type", "a"], true, false],
  [["date", "d", "etag", "e"], false, true],
  [["X-Content-Type", "a", "ETag", "e", "Content-Lengths", "1", "Dates", "d"], false, false],
  [["Date", "d", "Content-Length", "0"], true, true],
])("%j: with a length %s, with a date %s", (list, hasLength, hasDate) => {
  expect(writeHeaders(list, anyName)).toMatchObject({ hasLength, hasDate });
});

test("every name is checked, and a value that cannot be sent is refused with it", () => {
  const names: string[] = [];
  writeHeaders(["A", "1", "B", "2"], (name) => void names.push(name));
  expect(names).toEqual(["A", "B"]);
  const refuse = (): never => {
    throw new Error("no such name");
  };
  expect(() => writeHeaders(["A", "1"], refuse)).toThrow("no such name");
  expect(() => writeHeaders(["X-Own", "a\r\nb"], anyName)).toThrow(
    'Cannot send header "X-Own": its value has a byte of no value',
  );
  expect(() => checkHeaderValue("X-Own", "a b\tc")).not.toThrow();
});

test("repeated headers are written once, and stand before the own ones", () => {
  const repeated = new CachedHeaders(["A", "1"]);
  let writes = 0;
  const write = (list: readonly string[]): WrittenHeaders => {
    writes += 1;
    return writeHeaders(list, anyName);
  };
  expect(repeated.written(write)).toBe(repeated.written(write));
  expect([repeated.written(write).lines, writes]).toEqual(["A: 1\r\n", 1]);
  expect(joinHeaders(repeated, ["B", "2"])).toEqual(["A", "1", "B", "2"]);
  expect(joinHeaders(undefined, ["B", "2"])).toEqual(["B", "2"]);
});
