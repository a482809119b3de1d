import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { StrictWaits } from "../../../../runtime/queue-worker/calls/strict-waits.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const day = 86_400_000;

test.each([
  ["a day", day, day],
  ["longer than a timer can run", 366 * day, 2 ** 31 - 1],
])("a call due in %s is not looked at before", async (_what, delay, expected) => {
  const waits = new StrictWaits();
  let over = false;
  const waited = waits.wait("a", delay, new AbortController().signal).then(() => void (over = true));
  await vi.advanceTimersByTimeAsync(expected - 1);
  expect(over).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await waited;
  expect(over).toBe(true);
});
