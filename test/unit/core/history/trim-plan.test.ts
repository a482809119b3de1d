import { expect, test } from "vitest";

import { trimPlan } from "../../../../runtime/core/history/trim-plan.ts";

const now = 1_800_000_000_000;
const day = 86_400_000;
const bounds = { age: 7 * day, calls: 10_000, bytes: 1_000_000 };

test("what is within the bounds stays, but for what is too old", () => {
  expect(trimPlan({ calls: 10_000, bytes: 1_000_000 }, bounds, now)).toEqual({
    acceptedBefore: now - 7 * day,
    limit: 1_000,
    excess: 0,
    rollupsBefore: { "10s": now - day / 4, "1m": now - 7 * day, "1h": now - 90 * day },
    rollupExcess: 0,
  });
});

test.each<[calls: number, bytes: number, excess: number]>([
  [10_003, 1_000, 3],
  [12_000, 1_000, 1_000],
  // 200 bytes a call: 5 of them are as much as what is beyond.
  [5_005, 1_001_000, 5],
  [5_000, 2_000_000, 1_000],
  [10, 2_000_000, 5],
  [0, 2_000_000, 0],
])("%i calls of %i bytes: the oldest %i are removed", (calls, bytes, excess) => {
  expect(trimPlan({ calls, bytes }, bounds, now).excess).toBe(excess);
});

test.each<[callBytes: number, excess: number, rollupExcess: number]>([
  // Calls of 100 bytes have half of the room: beyond it they make room themselves.
  [1_000_000, 1_000, 0],
  [550_000, 500, 150_000],
  [500_000, 0, 200_000],
  [400_000, 0, 200_000],
  [0, 0, 200_000],
])(
  "of 1.2 MB in place of 1 MB, of which calls take %i: %i calls, and %i bytes of rollups",
  (callBytes, excess, rollups) => {
    const plan = trimPlan({ calls: callBytes / 100, bytes: 1_200_000, callBytes }, bounds, now);
    expect([plan.excess, plan.rollupExcess]).toEqual([excess, rollups]);
  },
);
