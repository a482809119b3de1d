import fc from "fast-check";
import { expect, test } from "vitest";

import { formatDuration, longestDuration, parseDuration } from "../../../../../runtime/api/duration.ts";
import { parseQuantity, quantityScale } from "../../../../../runtime/core/functions/quantity.ts";
import { checkNumbers } from "../../../../../scripts/fuzz/targets/numbers.ts";

const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;
const factors = { "": 1n, k: 1_000n, M: 1_000_000n, Ki: 1_024n, Mi: 1_048_576n, Gi: 2n ** 30n } as const;

test("parseDuration() is the inverse of formatDuration() for every duration", () => {
  fc.assert(
    fc.property(fc.nat(longestDuration), (duration) => {
      expect(parseDuration(formatDuration(duration))).toBe(duration);
    }),
  );
});

test.each([
  ["8784h", longestDuration],
  ["8784h0.4ms", longestDuration],
  ["8784h1ms", undefined],
  ["0.4ms", 0],
])("%s is %s ms", (text, milliseconds) => {
  expect(parseDuration(text)).toBe(milliseconds);
});

test("a duration is the sum of its parts", () => {
  const unit = fc.constantFrom("ms", "s", "m", "h");
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(999), unit), { minLength: 1, maxLength: 4 }), (parts) => {
      const text = parts.map(([count, name]) => `${count}${name}`).join("");
      expect(parseDuration(text)).toBe(parts.reduce((sum, [count, name]) => sum + count * units[name], 0));
    }),
  );
});

test("a quantity is its number times its unit, and invalid above 2^63 - 1", () => {
  const unit = fc.constantFrom("", "k", "M", "Ki", "Mi", "Gi");
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 15n - 1n }), unit, (number, name) => {
      const whole = number * factors[name];
      expect(parseQuantity(`${number}${name}`)).toBe(whole < 2n ** 63n ? whole * quantityScale : undefined);
    }),
  );
});

test("no text gives a number that is NaN, negative or out of range", () => {
  const tokens =
    "0 1 9 - + . , e E ms s m h Ki Ei k NaN Infinity 0x10 GMT 999999999 9007199254740993 2026-01-01T00:00:00Z";
  const token = fc.oneof(fc.constantFrom(...tokens.split(" "), " "), fc.nat().map(String));
  const made = fc.array(token, { maxLength: 6 }).map((parts) => parts.join(""));
  fc.assert(fc.property(fc.oneof(made, fc.string(), fc.double().map(String)), checkNumbers), { numRuns: 1_000 });
});
