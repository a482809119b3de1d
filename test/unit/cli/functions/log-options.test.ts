import { describe, expect, test } from "vitest";

import { parseReplicas } from "../../../../runtime/cli/commands/functions/scale.ts";
import { parseSince, parseTail } from "../../../../runtime/cli/commands/functions/log-options.ts";

const now = Date.parse("2026-01-31T12:00:00Z");

describe("parseSince()", () => {
  test.each([
    ["10m", "2026-01-31T11:50:00.000Z"],
    ["90", "2026-01-31T11:58:30.000Z"],
    ["2026-01-31T11:00:00Z", "2026-01-31T11:00:00.000Z"],
    ["2026-01-31T11:00:00", "2026-01-31T11:00:00.000Z"],
    ["2026-01-31 11:00:00.5", "2026-01-31T11:00:00.500Z"],
    ["2026-01-31T13:00:00.123456789+02:00", "2026-01-31T11:00:00.123Z"],
  ])("reads %j as %s", (text, time) => {
    expect(new Date(parseSince(text, now) ?? 0).toISOString()).toBe(time);
  });

  test("is undefined when nothing is said", () => {
    expect(parseSince(undefined, now)).toBeUndefined();
  });

  test.each(["yesterday", "", "2026-01-31", "2026-13-01T00:00:00Z", "-10m"])("refuses %j", (text) => {
    expect(() => parseSince(text, now)).toThrow(`Cannot use --since "${text}": it must be a duration, as in 10m`);
  });
});

describe("numbers", () => {
  test("--tail takes 1 to 10000 lines", () => {
    expect([undefined, "1", "10000"].map(parseTail)).toEqual([undefined, 1, 10_000]);
    for (const text of ["0", "-1", "10001", "1.5", "all", ""])
      expect(() => parseTail(text)).toThrow(`Cannot use --tail "${text}": it must be a whole number from 1 to 10000`);
  });

  test("scale takes 0 to 1000 replicas", () => {
    expect(["0", "1", "1000"].map((text) => parseReplicas("hello", text))).toEqual([0, 1, 1_000]);
    for (const text of ["-1", "1001", "1.5", "x", "", "1e2"])
      expect(() => parseReplicas("hello", text)).toThrow(
        `Cannot scale function "hello" to "${text}": it must be a whole number from 0 to 1000`,
      );
  });
});
