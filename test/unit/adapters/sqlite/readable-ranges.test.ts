import fc from "fast-check";
import { expect, test } from "vitest";

import { ReadableRanges } from "../../../../runtime/adapters/sqlite/rebuild/readable-ranges.ts";

/** Reads these numbers; a range fails if the first ones of it, as many as are asked for, hold one that is damaged. */
function rangesOf(numbers: readonly number[], damaged: ReadonlySet<number>, limit: number) {
  let reads = 0;
  const ranges = new ReadableRanges([0, 1 + Math.max(-1, ...numbers)], limit, ([from, to], count) => {
    reads += 1;
    const found = numbers.filter((number) => number >= from && number < to).slice(0, count);
    if (found.some((number) => damaged.has(number))) throw new Error("malformed");
    return found.map((seq) => ({ seq }));
  });
  const read: number[] = [];
  for (let more = true; more;) {
    const next = ranges.next();
    for (const { seq } of next.rows) read.push(seq);
    more = next.more;
  }
  return { read, skipped: ranges.skipped, reads };
}

test("reads all rows in order, and past each that cannot be read", () => {
  const some = fc.uniqueArray(fc.nat({ max: 500 }), { maxLength: 200 });
  fc.assert(
    fc.property(
      some,
      fc.uniqueArray(fc.nat({ max: 500 }), { maxLength: 20 }),
      fc.integer({ min: 1, max: 50 }),
      (all, bad, limit) => {
        const numbers = all.toSorted((one, other) => one - other);
        const damaged = new Set(bad.filter((number) => all.includes(number)));
        const { read, skipped } = rangesOf(numbers, damaged, limit);
        expect(read).toEqual(numbers.filter((number) => !damaged.has(number)));
        expect(skipped).toBe(damaged.size);
      },
    ),
  );
});

test("looks at few ranges beside those that it reads", () => {
  const numbers = Array.from({ length: 10_000 }, (_, number) => number);
  const { read, skipped, reads } = rangesOf(numbers, new Set([5_000, 5_001, 5_002, 9_999]), 500);
  expect([read.length, skipped]).toEqual([9_996, 4]);
  expect(reads).toBeLessThan(150);
});

test("of nothing it reads nothing", () => {
  expect(rangesOf([], new Set(), 10)).toEqual({ read: [], skipped: 0, reads: 0 });
});
