import { expect, test } from "vitest";

import { idleCheckPeriod, StreamIdle } from "../../../../../runtime/gateway/calls/sync/stream-idle.ts";

test("a stream is idle once no byte came for the whole timeout", () => {
  const idle = new StreamIdle(60_000, 10, 0);
  expect(idle.look(10, 1_000)).toBe(2_000);
  expect(idle.look(10, 59_999)).toBe(60_999);
  expect(idle.look(10, 60_000)).toBeUndefined();
});

test("any byte restarts the timeout", () => {
  const idle = new StreamIdle(60_000, 0, 0);
  expect(idle.look(1, 59_000)).toBe(60_000);
  expect(idle.look(1, 118_999)).toBe(119_999);
  expect(idle.look(2, 119_000)).toBe(120_000);
  expect(idle.look(2, 179_000)).toBeUndefined();
});

test("a late look decides by the bytes that passed, not by the time since the last look", () => {
  expect(new StreamIdle(1_000, 0, 0).look(5, 100_000)).toBe(100_100);
});

test.each([
  [60_000, 1_000],
  [10_000, 1_000],
  [500, 50],
])("an idle timeout of %d ms is checked every %d ms", (idle, period) => {
  expect(idleCheckPeriod(idle)).toBe(period);
});
