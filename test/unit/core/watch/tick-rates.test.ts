import fc from "fast-check";
import { expect, test } from "vitest";

import { TickRate, TickTimes } from "../../../../runtime/core/watch/tick-rates.ts";

/** The rates at ticks a second apart; the first count is at the first tick. */
function ratesOf(counts: readonly number[], seconds = 1): number[] {
  const times = new TickTimes();
  times.add(0);
  const rate = new TickRate(counts[0] ?? 0);
  return counts.slice(1).map((count, index) => {
    times.add((index + 1) * seconds * 1_000);
    return rate.next(count, times);
  });
}

test("a count that grows evenly has that rate from the second tick on", () => {
  expect(ratesOf([0, 3, 6, 9, 12, 15, 18, 21, 24])).toEqual([3, 3, 3, 3, 3, 3, 3, 3]);
  expect(ratesOf([0, 3, 6, 9], 2)).toEqual([1.5, 1.5, 1.5]);
});

test("one that stands still is 0, also after it grew", () => {
  expect(ratesOf([7, 7, 7])).toEqual([0, 0]);
  // Five seconds after the last call nothing of it is left.
  expect(ratesOf([0, 0, 0, 0, 0, 0, 10, 10, 10, 10, 10, 10, 10])).toEqual([0, 0, 0, 0, 0, 2, 2, 2, 2, 2, 0, 0]);
});

test("a report that comes early or late by a tick changes little", () => {
  const rates = ratesOf([0, 10, 10, 30, 40, 40, 60, 70, 80]);
  for (const rate of rates.slice(4)) expect(rate >= 6 && rate <= 14).toBe(true);
});

test("a count that begins anew is no negative rate", () => {
  expect(ratesOf([100, 100, 2, 4])).toEqual([0, 0, 0.7]);
});

test("rates have two digits that count", () => {
  expect(ratesOf([0, 1, 2], 3)).toEqual([0.3, 0.3]);
  expect(ratesOf([0, 1_234.4])).toEqual([1_234]);
});

test("no rate is negative, and what was counted is in some rate", () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 50 }), { minLength: 1, maxLength: 40 }), (steps) => {
      let sum = 0;
      const rates = ratesOf([0, ...steps.map((step) => (sum += step))]);
      for (const rate of rates) expect(rate).toBeGreaterThanOrEqual(0);
      expect(rates.some((rate) => rate > 0)).toBe(sum > 0);
    }),
  );
});

test("two ticks at the same moment have no rate", () => {
  expect(ratesOf([0, 5], 0)).toEqual([0]);
});
