import { expect, test } from "vitest";

import type { CallEntry } from "../../../../runtime/core/calls/call-entry.ts";
import type { LedgerEntry } from "../../../../runtime/core/ports/call-ledger.ts";
import { isOverdueCall, isOverdueCallback } from "../../../../runtime/core/queues/overdue-entry.ts";
import { sampleEntry } from "../../../contract/samples.ts";

const now = 100_000_000;
const minutes = 60_000;
const tolerance = 90_000;
const written = (ago: number, over: Partial<CallEntry>): LedgerEntry => ({
  entry: { ...sampleEntry(), ...over },
  revision: 1,
  writtenAt: now - ago,
});
const pending = (next?: number): Partial<CallEntry> => ({
  callback: { url: "http://h/", state: "pending", attempts: 1, ...(next === undefined ? {} : { next }) },
});

test.each<[what: string, found: LedgerEntry | undefined, overdue: boolean]>([
  ["a call without a record", undefined, true],
  ["a queued call", written(0, { state: "queued" }), true],
  ["a run whose lease was renewed in time", written(tolerance, { state: "running" }), false],
  ["a run whose lease ended", written(tolerance + 1, { state: "running" }), true],
  ["a call that waits for its time", written(10 * minutes, { state: "waiting", next: now + 1 }), false],
  [
    "a call whose time has passed for as long as is tolerated",
    written(10 * minutes, { state: "waiting", next: now - tolerance }),
    false,
  ],
  ["a call whose time has passed", written(10 * minutes, { state: "waiting", next: now - tolerance - 1 }), true],
])("%s", (_what, found, overdue) => {
  expect(isOverdueCall(found, now, tolerance)).toBe(overdue);
});

test.each<[what: string, found: LedgerEntry | undefined, overdue: boolean]>([
  ["a callback without a record", undefined, true],
  ["one that was sent", written(0, { callback: { url: "http://h/", state: "sent", attempts: 1 } }), true],
  ["one of a call that has none any more", written(0, { callback: null }), true],
  ["one that waits for its host for as long as that may take", written(20 * minutes, pending()), false],
  ["one that may wait for its host", written(18 * minutes, pending()), false],
  ["one that waits an hour for its next attempt", written(50 * minutes, pending(now + 10 * minutes)), false],
  ["one whose next attempt may wait for its host", written(70 * minutes, pending(now - 18 * minutes)), false],
  ["one whose next attempt was due long ago", written(70 * minutes, pending(now - 21 * minutes)), true],
  ["one whose record was not written for long", written(21 * minutes, pending()), true],
])("callback: %s", (_what, found, overdue) => {
  expect(isOverdueCallback(found, now, tolerance)).toBe(overdue);
});
