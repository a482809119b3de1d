import { expect, test } from "vitest";

import { contentLengthOf, isChunkedCoding } from "../../../runtime/http1/framing-rules.ts";

test.each([
  ["0", 0],
  ["007", 7],
  ["9007199254740991", Number.MAX_SAFE_INTEGER],
  ["9007199254740992", undefined],
  ["00000000000000001", undefined],
  ["", undefined],
  ["+1", undefined],
  ["-1", undefined],
  ["1.0", undefined],
  ["0x10", undefined],
  ["1, 1", undefined],
  ["1 ", undefined],
  ["\u0661", undefined],
])("a content length %j is %s", (value, length) => {
  expect(contentLengthOf(value)).toBe(length);
});

test.each([
  ["chunked", true],
  ["CHUNKED", true],
  ["chunked ", false],
  ["gzip, chunked", false],
  ["identity", false],
  ["chun\u212Aed", false],
  ["", false],
])("a transfer coding %j is chunked: %s", (value, known) => {
  expect(isChunkedCoding(value)).toBe(known);
});
