import { expect, test } from "vitest";

import { framingFault } from "../../../runtime/http1/framing-fault.ts";
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
  expect(framingFault(["content-LENGTH", value])).toBe(length === undefined ? `content length "${value}"` : undefined);
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
  expect(framingFault(["Transfer-Encoding", value])).toBe(known ? undefined : `transfer coding "${value}"`);
});

test("a repeated coding is a fault", () => {
  const coding = ["Transfer-Encoding", "chunked"];
  expect(framingFault([...coding, ...coding])).toBe('transfer coding "chunked"');
});
