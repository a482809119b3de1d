import fc from "fast-check";
import { expect, test } from "vitest";

import {
  decodeHistoryValue,
  encodeHistoryValue,
  historyOperations,
  historyPath,
  historyProgressPath,
  parseHistoryPath,
} from "../../../../../runtime/api/schemas/history/history-wire.ts";

test("every value but undefined and null comes back as it was", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      // As JSON has it: -0 is written as 0.
      const written = JSON.parse(JSON.stringify(value)) as unknown;
      expect(decodeHistoryValue(encodeHistoryValue(value))).toEqual(written ?? undefined);
    }),
  );
});

test("what is absent is null on the wire", () => {
  expect(encodeHistoryValue(undefined)).toBe("null");
  expect(decodeHistoryValue("null")).toBeUndefined();
  expect(decodeHistoryValue("false")).toBe(false);
});

test("what is no JSON is refused", () => {
  expect(() => decodeHistoryValue("{")).toThrow(SyntaxError);
});

test("an operation and its path lead to each other, and no other path leads to one", () => {
  for (const operation of historyOperations) expect(parseHistoryPath(historyPath(operation))).toBe(operation);
  for (const path of [historyProgressPath, "/v1/", "/v2/list", "/v1/list/", "/v1/constructor", ""]) {
    expect(parseHistoryPath(path)).toBeUndefined();
  }
});
