import { beforeEach, describe, expect, test } from "vitest";

import type { RecordBatch } from "../../../../runtime/core/ports/record-changes.ts";
import { ReadState } from "../../../../runtime/history/projection/read-state.ts";

let now = 0;
let monotonic = 0;
let state: ReadState;

const position = { created: "", sequence: 1, base: 0 };
const batch = (at: number, isLevel: boolean): RecordBatch => ({
  changes: [],
  unreadable: 0,
  isFirst: false,
  removed: 0,
  readAt: now,
  isLevel,
  position: { ...position, at },
});
const pass = (milliseconds: number): void => {
  now += milliseconds;
  monotonic += milliseconds;
};

beforeEach(() => {
  now = 1_000_000;
  monotonic = 0;
  state = new ReadState({ now: () => now, monotonic: () => monotonic });
});

describe("the lag of what was read", () => {
  test("grows from the position where reading begins", () => {
    state.begin({ ...position, at: now - 30_000 });
    pass(2_000);
    expect(state.lagSeconds).toBe(32);
  });

  test("grows from the start if nothing was ever read", () => {
    state.begin(undefined);
    pass(3_000);
    expect(state.lagSeconds).toBe(3);
  });

  test("is that of the last change while others follow, and 0 once none does", () => {
    state.stored(batch(now - 5_000, false));
    expect(state.lagSeconds).toBe(5);
    state.stored(batch(now - 400, true));
    expect(state.lagSeconds).toBe(0);
    pass(7_000);
    expect(state.lagSeconds).toBe(0);
  });

  test("grows again when no sign comes any more, and is never negative", () => {
    state.stored(batch(now, true));
    pass(20_000);
    expect(state.lagSeconds).toBe(20);
    state.stored(batch(now + 5_000, false));
    expect(state.lagSeconds).toBe(0);
  });
});
