import { expect, test } from "vitest";

import { idleCheckPeriod, StreamIdle } from "../../../../../runtime/gateway/calls/sync/stream-idle.ts";

test("a stream is silent once its bytes stayed the same for the whole time", () => {
  const silence = new StreamIdle(60_000, 10, 0);
  expect(silence.look(10, 1_000)).toBe(2_000);
  expect(silence.look(10, 59_999)).toBe(60_999);
  expect(silence.look(10, 60_000)).toBeUndefined();
});

test("any byte begins the time anew", () => {
  const silence = new StreamIdle(60_000, 0, 0);
  expect(silence.look(1, 59_000)).toBe(60_000);
  expect(silence.look(1, 118_999)).toBe(119_999);
  expect(silence.look(2, 119_000)).toBe(120_000);
  expect(silence.look(2, 179_000)).toBeUndefined();
});

test("a look that comes late judges by what passed, not by the time since the last look", () => {
  expect(new StreamIdle(1_000, 0, 0).look(5, 100_000)).toBe(100_100);
});

test.each([
  [60_000, 1_000],
  [10_000, 1_000],
  [500, 50],
])("with %d ms of silence it is looked at every %d ms", (idle, period) => {
  expect(idleCheckPeriod(idle)).toBe(period);
});
