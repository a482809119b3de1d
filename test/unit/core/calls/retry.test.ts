import fc from "fast-check";
import { expect, test } from "vitest";

import { backOff, parseRetryAfter, retryDelay } from "../../../../runtime/core/calls/retry.ts";
import { anyCharacter } from "../../../support/any-character.ts";

const rules = { attempts: 10, codes: [], minWait: 10_000, maxWait: 120_000 };

test("waits are 10, 20, 40, 80, 120, 120, … s at most and half of that at least", () => {
  const most = [0, 1, 2, 3, 4, 5, 99].map((retry) => retryDelay(rules, retry, undefined, () => 1));
  const least = [0, 1, 2, 3, 4, 5, 99].map((retry) => retryDelay(rules, retry, undefined, () => 0));
  expect(most).toEqual([10_000, 20_000, 40_000, 80_000, 120_000, 120_000, 120_000]);
  expect(least).toEqual(most.map((wait) => wait / 2));
});

test("every wait is a whole number within its band", () => {
  const wait = fc.integer({ min: 0, max: 3_600_000 });
  fc.assert(
    fc.property(wait, wait, fc.nat(200), fc.double({ min: 0, max: 1, noNaN: true }), (a, b, n, chance) => {
      const [first, longest] = [Math.min(a, b), Math.max(a, b)];
      const delay = backOff(first, longest, n, () => chance);
      const band = Math.min(first * 2 ** n, longest);
      expect(Number.isSafeInteger(delay)).toBe(true);
      expect(delay).toBeGreaterThanOrEqual(Math.floor(band / 2));
      expect(delay).toBeLessThanOrEqual(Math.ceil(band));
    }),
  );
});

test("a wait by Retry-After is a whole number, at least the minimum wait, at most an hour", () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e15, noNaN: true }), (requested) => {
      const delay = retryDelay(rules, 0, requested);
      expect(Number.isSafeInteger(delay)).toBe(true);
      expect(delay).toBeGreaterThanOrEqual(10_000);
      expect(delay).toBeLessThanOrEqual(3_600_000);
    }),
  );
});

test.each([
  ["0", 0],
  ["120", 120_000],
  [" 7 ", 7_000],
  ["999999999", 999_999_999_000],
])("Retry-After %j is %i ms", (value, expected) => {
  expect(parseRetryAfter(value)).toBe(expected);
});

test("Retry-After may be a date; one in the past is 0", () => {
  const now = Date.UTC(2026, 9, 21, 7, 28, 0);
  expect(parseRetryAfter("Wed, 21 Oct 2026 07:28:30 GMT", now)).toBe(30_000);
  expect(parseRetryAfter("Wed, 21 Oct 2015 07:28:00 GMT", now)).toBe(0);
});

test.each([
  undefined,
  "",
  "-1",
  "+1",
  "1.5",
  "1e3",
  "0x10",
  "Infinity",
  "NaN",
  "soon",
  "1, 2",
  "9".repeat(400),
  "Wed, 99 Foo 2026 07:28:30 GMT",
  "on Wed, 21 Oct 2026 07:28:30 GMT",
  "Wed, 21 Oct 2026 07:28:30 GMT+0100",
])("Retry-After %j is ignored", (value) => {
  expect(parseRetryAfter(value)).toBeUndefined();
});

test("every Retry-After gives a finite number of milliseconds, 0 or more", () => {
  const digits = fc.stringMatching(/^[0-9 ]{0,30}$/);
  const date = fc.date({ noInvalidDate: true }).map((moment) => moment.toUTCString());
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: anyCharacter }), digits, date), (value) => {
      const delay = parseRetryAfter(value) ?? 0;
      expect(Number.isFinite(delay)).toBe(true);
      expect(delay).toBeGreaterThanOrEqual(0);
      expect(Number.isSafeInteger(retryDelay(rules, 0, delay))).toBe(true);
    }),
    { numRuns: 500 },
  );
});
