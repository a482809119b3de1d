import { describe, expect, test } from "vitest";

import type { StreamPosition } from "../../../../runtime/core/ports/call-history.ts";
import type { RecordBatch } from "../../../../runtime/core/ports/record-changes.ts";
import { decideGap, shortestRecordLife } from "../../../../runtime/history/projection/decide-gap.ts";
import { GapWatch } from "../../../../runtime/history/projection/gap-watch.ts";

const minute = 60_000;
const noon = 1_790_000_000_000;
const before: StreamPosition = {
  created: new Date(noon - 1_000 * minute).toISOString(),
  sequence: 10,
  at: noon,
  base: 0,
};

function batch(readAt: number, over: Partial<RecordBatch> = {}): RecordBatch {
  const position = { ...before, sequence: 20, at: readAt };
  return { changes: [], unreadable: 0, isLevel: true, isFirst: false, removed: 5, position, readAt, ...over };
}

describe("decideGap()", () => {
  test("finds none while no record can have expired", () => {
    expect(shortestRecordLife).toBe(2 * minute);
    expect(decideGap(before, batch(noon + 2 * minute))).toBeUndefined();
  });

  test("is the time in which calls may have ended and expired", () => {
    expect(decideGap(before, batch(noon + 10 * minute))).toEqual({ from: noon, to: noon + 8 * minute });
  });

  test("finds none if everything that was written is still there", () => {
    expect(decideGap(before, batch(noon + 10 * minute, { removed: 0 }))).toBeUndefined();
  });

  test("begins when the broker started, as nothing changed before", () => {
    const late = batch(noon + 600 * minute, { quietUntil: noon + 597 * minute });
    expect(decideGap(before, late)).toEqual({ from: noon + 597 * minute, to: noon + 598 * minute });
    expect(decideGap(before, { ...late, quietUntil: noon + 599 * minute })).toBeUndefined();
    expect(decideGap(before, { ...late, quietUntil: noon - minute })).toEqual({ from: noon, to: noon + 598 * minute });
  });

  test("is the time until the stream was created anew, however short", () => {
    const created = new Date(noon + 3_000).toISOString();
    const position = { ...before, created, sequence: 0, base: 10 };
    expect(decideGap(before, batch(noon + 5_000, { position, removed: 0 }))).toEqual({ from: noon, to: noon + 3_000 });
  });

  test("finds none in a stream that was restored to a time that had been read", () => {
    const created = new Date(noon - 2_000 * minute).toISOString();
    const position = { ...before, created, sequence: 0, base: 10 };
    expect(decideGap(before, batch(noon + 5_000, { position, removed: 0 }))).toBeUndefined();
  });
});

describe("GapWatch", () => {
  test("is not about the time before the history was turned on", () => {
    const watch = new GapWatch(undefined);
    const at = (time: number) => ({ ...before, sequence: 20, at: time });
    expect(watch.next(batch(noon, { position: at(noon - 50 * minute), isLevel: false }))).toBeUndefined();
    expect(watch.next(batch(noon + minute, { position: at(noon - 40 * minute), isLevel: false }))).toBeUndefined();
    // So slow that records of the time since then expire before they are read.
    const slow = watch.next(batch(noon + 5 * minute, { position: at(noon - minute) }));
    expect(slow).toEqual({ from: noon, to: noon + 3 * minute });
  });

  test("grows one gap while reading is behind, and counts it once", () => {
    const watch = new GapWatch(before);
    const behind = (readAt: number, at: number) => batch(readAt, { position: { ...before, at }, isLevel: false });
    const first = watch.next(behind(noon + 10 * minute, noon + minute));
    expect(first).toEqual({ from: noon, to: noon + 8 * minute + 10_000 });
    // What was stored covers it already.
    expect(watch.next(behind(noon + 10 * minute + 5_000, noon + 2 * minute))).toBeUndefined();
    const grown = watch.next(behind(noon + 11 * minute, noon + 4 * minute));
    expect(grown).toEqual({ from: noon, to: noon + 9 * minute + 10_000 });
    expect(watch.next(batch(noon + 12 * minute, { removed: 0 }))).toBeUndefined();
    expect(watch.count).toBe(1);

    const other = watch.next(batch(noon + 60 * minute));
    expect(other).toEqual({ from: noon + 12 * minute, to: noon + 58 * minute });
    expect(watch.count).toBe(2);
  });
});
