import { describe, expect, test } from "vitest";

import type { AuditRecord } from "../../../../../runtime/api/schemas/iam/audit.ts";
import { RefusalFold } from "../../../../../runtime/core/access/audit/refusal-fold.ts";

const refusal = (over: Partial<AuditRecord> = {}): AuditRecord => ({
  id: "a",
  time: "2026-01-31T12:00:00.000Z",
  action: "Function:Delete",
  allowed: false,
  status: 401,
  address: "10.0.0.7",
  ...over,
});

describe("refusals of one action and source", () => {
  test("are one record when their minute is over: the last, with their number", () => {
    const fold = new RefusalFold();
    expect(fold.add(refusal(), "10.0.0.7", 1_000)).toBe(true);
    expect(fold.add(refusal({ id: "b" }), "10.0.0.7", 30_000)).toBe(true);
    expect(fold.add(refusal({ id: "c", status: 429 }), "10.0.0.7", 60_999)).toBe(true);
    expect(fold.due(60_999)).toEqual([]);
    expect(fold.due(61_000)).toEqual([{ ...refusal({ id: "c", status: 429 }), count: 3 }]);
    expect(fold.due(Number.POSITIVE_INFINITY)).toEqual([]);
  });

  test("are another record in the next minute", () => {
    const fold = new RefusalFold();
    fold.add(refusal(), "x", 0);
    expect(fold.due(60_000)).toMatchObject([{ count: 1 }]);
    fold.add(refusal(), "x", 60_000);
    expect(fold.due(119_999)).toEqual([]);
    expect(fold.due(120_000)).toMatchObject([{ count: 1 }]);
  });

  test("are apart from those of other actions and other sources", () => {
    const fold = new RefusalFold();
    fold.add(refusal(), "x", 0);
    fold.add(refusal({ action: "Function:List" }), "x", 1);
    fold.add(refusal(), "y", 2);
    fold.add(refusal(), "x", 3);
    expect(fold.rest().map(({ action, count }) => [action, count])).toEqual([
      ["Function:Delete", 2],
      ["Function:List", 1],
      ["Function:Delete", 1],
    ]);
    expect(fold.rest()).toEqual([]);
  });
});

test("at most 100 records begin in a second, and no more end in one; refusals that have one still count in it", () => {
  const fold = new RefusalFold();
  const added = Array.from({ length: 250 }, (_, index) => fold.add(refusal(), `host-${index}`, 5_000));
  expect(added.filter(Boolean)).toHaveLength(100);
  expect(fold.add(refusal(), "host-0", 5_999)).toBe(true);
  expect(fold.add(refusal(), "host-200", 5_999)).toBe(false);
  expect(fold.add(refusal(), "host-200", 6_000)).toBe(true);
  expect(fold.due(65_000)).toHaveLength(100);
  expect(fold.due(66_000)).toHaveLength(1);
});

test("a flood of a whole minute has room for 6 000 records", () => {
  const fold = new RefusalFold();
  let recorded = 0;
  for (let now = 0; now < 120_000; now += 5) {
    if (now % 1_000 === 0) recorded += fold.due(now).length;
    fold.add(refusal(), `host-${now}`, now);
  }
  expect(recorded + fold.rest().length).toBe(12_000);
  expect(recorded).toBeLessThanOrEqual(6_000);
  expect(recorded).toBeGreaterThan(5_800);
});
