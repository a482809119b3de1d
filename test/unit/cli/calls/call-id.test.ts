import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { isGivenCall, readCallId } from "../../../../runtime/cli/commands/calls/call-id.ts";

const id = "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10";

describe("readCallId", () => {
  test.each([
    [id, { kind: "whole", id }],
    [id.toUpperCase(), { kind: "whole", id }],
    ["7f3c1d", { kind: "start", digits: "7f3c1d" }],
    ["7F3C1D", { kind: "start", digits: "7f3c1d" }],
    ["7f3c1d52-5c0e", { kind: "start", digits: "7f3c1d525c0e" }],
  ])("reads %s", (text, expected) => {
    expect(readCallId(text, "show")).toEqual(expected);
  });

  test.each(["", "7f3c1", "7f3-c1", "hello!", "7f3c1g", `${id}0`, id.replaceAll("-", "").padEnd(36, "0"), "../../x"])(
    "refuses %j as a mistake on the command line",
    (text) => {
      expect(() => readCallId(text, "show")).toThrow(
        expect.objectContaining({
          exit: 2,
          message: `Cannot show call "${text}": an id is a UUID, or at least 6 digits of its beginning`,
        }),
      );
    },
  );
});

test("a call is found by every beginning of its id, and by no other digits", () => {
  fc.assert(
    fc.property(fc.uuid(), fc.integer({ min: 6, max: 36 }), fc.uuid(), (own, length, other) => {
      const start = own.slice(0, length);
      if (start.replaceAll("-", "").length < 6) return;
      expect(isGivenCall(readCallId(start, "show"), own)).toBe(true);
      expect(isGivenCall(readCallId(start, "show"), other)).toBe(other.startsWith(start.replace(/-$/, "")));
    }),
  );
});
