import { existsSync } from "node:fs";

import { describe, expect, test } from "vitest";

import { decidedTime } from "../../support/decided-time.ts";

/** Rounds that take these times in turn. */
function taking(...times: readonly number[]): { readonly round: () => Promise<number>; readonly left: number[] } {
  const left = [...times];
  return { left, round: async () => left.shift() ?? Number.NaN };
}

describe.skipIf(!existsSync("/proc/self/schedstat"))("decidedTime()", () => {
  test("the first round within the bound ends it", async () => {
    const { round, left } = taking(12, 9, 3);
    expect(await decidedTime(process.pid, 10, round)).toBe(9);
    expect(left).toEqual([3]);
  });

  test("a bound that every round missed fails, with all measurements", async () => {
    const { round, left } = taking(12, 11, 13, 4);
    await expect(decidedTime(process.pid, 10, round, 3)).rejects.toThrow(
      /rounds took 12\.0, 11\.0, 13\.0; process \d+ ran \d+ ms and waited \d+ ms for a processor: expected 11 /,
    );
    expect(left).toEqual([4]);
  });

  test("rounds that measured nothing fail", async () => {
    await expect(decidedTime(process.pid, 10, taking().round)).rejects.toThrow(/expected NaN /);
  });
});
