import fc from "fast-check";
import { expect, test } from "vitest";

import { PlatformError } from "../../../../runtime/api/platform-error.ts";
import { parseLogQuery } from "../../../../runtime/core/replicas/log-query.ts";

test("absent and empty parameters mean all", () => {
  const all = { instance: undefined, tail: undefined, since: undefined, follow: false };
  expect(parseLogQuery({})).toEqual(all);
  expect(parseLogQuery({ instance: "", tail: "", since: "" })).toEqual(all);
  expect(parseLogQuery({ tail: "0" }).tail).toBeUndefined();
  expect(parseLogQuery({ tail: "-5" }).tail).toBeUndefined();
  expect(parseLogQuery({ tail: "10000" }).tail).toBe(10_000);
  expect(parseLogQuery({ tail: "+1" }).tail).toBe(1);
  expect(parseLogQuery({ instance: "hello-1" }).instance).toBe("hello-1");
});

test.each(["10001", "1.5", "x5", "5x", "--5", "1e3", " ", "9".repeat(16)])("tail %j cannot be read", (tail) => {
  const message = `Cannot read tail "${tail}": expected a whole number up to 10000`;
  expect(() => parseLogQuery({ tail })).toThrow(expect.objectContaining({ code: "log_query_invalid", message }));
});

test.each([
  ["2026-01-31T12:00:00Z", Date.UTC(2026, 0, 31, 12)],
  ["2026-01-31T12:00:00", Date.UTC(2026, 0, 31, 12)],
  ["2026-01-31T12:00:00.123456789+02:00", Date.UTC(2026, 0, 31, 10, 0, 0, 123)],
  ["2026-01-31t12:00:00.5z", Date.UTC(2026, 0, 31, 12, 0, 0, 500)],
  ["2026-01-31 12:00:00", Date.UTC(2026, 0, 31, 12)],
  ["2026-01-31T12:00:00-05:30", Date.UTC(2026, 0, 31, 17, 30)],
  ["2026-01-31T12:00:00+19:00", Date.UTC(2026, 0, 30, 17)],
  ["2026-01-31T12:00:00+23:00", Date.UTC(2026, 0, 30, 13)],
  ["2026-02-01T01:00:00+02:00", Date.UTC(2026, 0, 31, 23)],
])("since %s", (since, at) => {
  expect(parseLogQuery({ since }).since).toBe(at);
});

test.each([
  "yesterday",
  "2026-01-31",
  "2026-02-30T00:00:00Z",
  "2026-01-31T24:00:00Z",
  "2026-01-31T12:00:00+25:00",
  "2026-01-31T12:00:00+24:00",
  "2026-01-31T12:00:00+01:60",
  "2026-01-31T12:00:00+1:00",
  "2026-01-31T12:00",
  "2026-01-31T12:00:00.",
  "2026-01-31T12:00:00.1234567890Z",
  "2026-01-31T12:00:00Z.",
  "+2026-01-31T12:00:00Z",
  "2026-1-31T12:00:00Z",
  "1700000000",
])("since %s cannot be read", (since) => {
  const message = `Cannot read since "${since}": expected a time such as 2026-01-31T12:00:00Z`;
  expect(() => parseLogQuery({ since })).toThrow(expect.objectContaining({ code: "log_query_invalid", message }));
});

test("follow that cannot be read is false", () => {
  expect(["1", "true", "", "maybe", "0"].map((follow) => parseLogQuery({ follow }).follow)).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
});

test("any text gives a query or a refusal", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (tail, since) => {
      try {
        const query = parseLogQuery({ tail, since });
        expect(query.tail ?? 1).toBeGreaterThan(0);
        expect(Number.isFinite(query.since ?? 0)).toBe(true);
      } catch (err) {
        expect(err).toBeInstanceOf(PlatformError);
      }
    }),
  );
});
