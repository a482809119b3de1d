import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { secondsSince } from "../../../runtime/core/seconds-since.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

test.each([
  [0, "0.0 s"],
  [2_449, "2.4 s"],
  [60_000, "60.0 s"],
])("%i ms later it is %s", (milliseconds, expected) => {
  vi.advanceTimersByTime(5_000);
  const began = performance.now();
  vi.advanceTimersByTime(milliseconds);
  expect(String(secondsSince(began))).toBe(expected);
});
