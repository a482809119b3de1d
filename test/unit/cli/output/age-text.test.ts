import { describe, expect, test } from "vitest";

import { ageText, localTime } from "../../../../runtime/cli/output/age-text.ts";

const now = Date.parse("2026-11-25T12:00:00Z");

test.each([
  ["2026-11-25T12:00:00Z", "0s"],
  ["2026-11-25T11:59:01Z", "59s"],
  ["2026-11-25T11:59:00Z", "1m"],
  ["2026-11-25T11:00:01Z", "59m"],
  ["2026-11-25T11:00:00Z", "1h"],
  ["2026-11-24T12:00:01Z", "23h"],
  ["2026-11-24T12:00:00Z", "1d"],
  ["2025-11-25T12:00:00Z", "365d"],
  ["2026-11-25T13:00:00Z", "0s"],
  ["nonsense", ""],
  [undefined, ""],
])("%s is %s ago", (time, age) => {
  expect(ageText(time, now)).toBe(age);
});

describe("local time", () => {
  test("is in the zone of this machine", () => {
    const date = new Date(2026, 0, 5, 3, 4, 9);
    expect(localTime(date.toISOString())).toBe("2026-01-05 03:04:09");
  });

  test.each(["nonsense", "", undefined])("of %s is empty", (time) => {
    expect(localTime(time)).toBe("");
  });
});
