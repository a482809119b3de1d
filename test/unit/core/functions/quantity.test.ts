import fc from "fast-check";
import { expect, test } from "vitest";

import { parseQuantity, quantityScale } from "../../../../runtime/core/functions/quantity.ts";

test.each([
  ["0.7", "700m"],
  ["1", "1000m"],
  ["1Ki", "1024"],
  ["1.5Gi", "1610612736"],
  ["1e3", "1k"],
  ["1E", "1000P"],
  ["1E2", "100"],
  ["1e12", "1T"],
  ["0.000000001G", "1"],
])("%s equals %s", (left, right) => {
  expect(parseQuantity(left)).toBe(parseQuantity(right));
  expect(parseQuantity(left)).toBeDefined();
});

test.each([
  "",
  "lots",
  "-1",
  "+1",
  "1 Mi",
  "1mi",
  "1e",
  "1e100",
  ".5",
  "5.",
  "NaN",
  "Infinity",
  "1KiB",
  "0x1",
  "1\n",
  "0.0000000001",
])("%j is invalid", (text) => {
  expect(parseQuantity(text)).toBeUndefined();
});

test("counts up to the maximum of 64 signed bits", () => {
  expect(parseQuantity("922337203685477.5807e4")).toBe((2n ** 63n - 1n) * quantityScale);
  expect(parseQuantity("922337203685477.5808e4")).toBeUndefined();
  expect(parseQuantity("8Ei")).toBeUndefined();
});

test("is never negative, whatever the text", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[0-9.]{1,9}(m|k|Ki|e\d)?$/)), (text) => {
      const value = parseQuantity(text);
      if (value !== undefined) expect(value >= 0n).toBe(true);
    }),
  );
});

test("a whole number is itself", () => {
  fc.assert(fc.property(fc.nat(), (number) => parseQuantity(String(number)) === BigInt(number) * quantityScale));
});
