import { expect, test } from "vitest";

import { parseDateTime } from "../../../runtime/core/date-time.ts";

test.each([
  ["2026-01-31T12:00:00Z", Date.UTC(2026, 0, 31, 12)],
  ["2026-01-31 12:00:00.1234z", Date.UTC(2026, 0, 31, 12, 0, 0, 123)],
  ["2026-01-31T12:00:00+19:00", Date.UTC(2026, 0, 30, 17)],
])("%s is a time, whether an offset must be there or not", (text, at) => {
  expect([parseDateTime(text, "required"), parseDateTime(text, "optional")]).toEqual([at, at]);
});

test("without an offset it is UTC, where one need not be there", () => {
  expect(parseDateTime("2026-01-31T12:00:00", "optional")).toBe(Date.UTC(2026, 0, 31, 12));
  expect(parseDateTime("2026-01-31T12:00:00", "required")).toBeUndefined();
});

test.each(["", "yesterday", "2026-02-30T00:00:00Z", "2026-01-31T24:00:00Z", "2026-01-31T12:00:00+24:00", "1700000000"])(
  "%j is none",
  (text) => {
    expect([parseDateTime(text, "required"), parseDateTime(text, "optional")]).toEqual([undefined, undefined]);
  },
);
