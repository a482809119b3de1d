import { expect, test } from "vitest";

import { CallTotals } from "../../../../runtime/process/metrics/call-totals.ts";

test("time in flight is the sum over all calls, those in flight too, in whatever order they are noted", () => {
  const totals = new CallTotals();
  expect(totals.busyUntil(1_000_000)).toBe(0);
  totals.begin(1_000_000);
  totals.begin(1_000_300);
  totals.end(1_000_400);
  expect(totals).toMatchObject({ inFlight: 1, finished: 1 });
  expect(totals.busyUntil(1_000_500)).toBe(600);
  // A call that is noted once its head is read began before the last change.
  totals.begin(1_000_350);
  expect(totals.busyUntil(1_000_500)).toBe(750);
  totals.end(1_000_600);
  totals.end(1_000_700);
  expect(totals.busyUntil(9_000_000)).toBe(1_050);
  expect(totals).toMatchObject({ inFlight: 0, finished: 3 });
});
