import { expect, test } from "vitest";

import { crashBudget, decideDelivery, type DeliveryDecision } from "../../../../runtime/core/calls/decide-delivery.ts";
import type { CallEntry } from "../../../../runtime/core/calls/call-entry.ts";
import { sampleEntry } from "../../../contract/samples.ts";

const now = 1_800_000_000_000;
const times = { callMaxAge: 604_800_000, callRecordTtl: 3_600_000, ackWait: 60_000 };
const running = { state: "running", run: 1, owner: "somebody" } as const;
const waiting = { state: "waiting", run: 1, retries: 1 } as const;

function decide(entry: Partial<CallEntry>, over: { age?: number; storedAgo?: number } = {}): DeliveryDecision {
  const found = { entry: sampleEntry(entry), revision: 1, writtenAt: now - (over.age ?? 0) };
  return decideDelivery(found, now - (over.storedAgo ?? 0), now, times);
}

const claim: DeliveryDecision = { action: "take", takeover: false };
const takeover: DeliveryDecision = { action: "take", takeover: true };

test.each<[string, Partial<CallEntry>, { age?: number; storedAgo?: number }, DeliveryDecision]>([
  ["queued", { state: "queued" }, {}, claim],
  ["queued, handed back", { state: "queued", run: 3 }, { age: 1 }, claim],
  ["queued, exactly at the age limit", { state: "queued" }, { storedAgo: times.callMaxAge }, claim],
  [
    "queued, too old",
    { state: "queued" },
    { storedAgo: times.callMaxAge + 1 },
    { action: "dead-letter", reason: "expired" },
  ],
  ["failed as it was not stored, which it is", { state: "failed", reason: "not_stored" }, {}, claim],
  [
    "not stored, and too old",
    { state: "failed", reason: "not_stored" },
    { storedAgo: times.callMaxAge + 1 },
    { action: "dead-letter", reason: "expired" },
  ],
  ["waiting, due", { ...waiting, next: now }, {}, claim],
  ["waiting, long due", { ...waiting, next: now - 5_000 }, {}, claim],
  ["waiting, due too soon to requeue it", { ...waiting, next: now + 100 }, {}, claim],
  ["waiting, not due", { ...waiting, next: now + 101 }, {}, { action: "requeue", delay: 101, because: "not-due" }],
  [
    "waiting, not due but too old",
    { ...waiting, next: now + 9_000 },
    { storedAgo: times.callMaxAge + 1 },
    { action: "dead-letter", reason: "expired" },
  ],
  ["waiting without a time", { ...waiting, next: null }, {}, claim],
  ["running, just renewed", running, { age: 0 }, { action: "requeue", delay: 57_000, because: "lease-held" }],
  [
    "running, renewed a third of a lease ago",
    running,
    { age: 20_000 },
    { action: "requeue", delay: 37_000, because: "lease-held" },
  ],
  [
    "running, renewed just within the lease",
    running,
    { age: 56_999 },
    { action: "requeue", delay: 1, because: "lease-held" },
  ],
  ["running, not renewed for the lease", running, { age: 57_000 }, takeover],
  ["running, beyond the age limit", running, { age: 57_000, storedAgo: 2 * times.callMaxAge }, takeover],
  [
    "running, by a clock slightly ahead",
    running,
    { age: -1 },
    { action: "requeue", delay: 57_000, because: "lease-held" },
  ],
  ["running, written far in the future", running, { age: -57_000 }, takeover],
  ["running, one lost run left", { ...running, lost: crashBudget - 1 }, { age: 60_000 }, takeover],
  [
    "running, no lost run left",
    { ...running, lost: crashBudget },
    { age: 60_000 },
    { action: "dead-letter", reason: "crash" },
  ],
  [
    "running, no lost run left, owner alive",
    { ...running, lost: crashBudget },
    { age: 0 },
    { action: "requeue", delay: 57_000, because: "lease-held" },
  ],
])("%s", (_name, entry, over, expected) => {
  expect(decide(entry, over)).toEqual(expected);
});

test.each(["done", "failed", "cancelled"] as const)("%s: only pending work is left, whatever the age", (state) => {
  const entry = sampleEntry({ state, ended: now, pending: state === "done" ? ["callback"] : [] });
  expect(decideDelivery({ entry, revision: 1, writtenAt: 0 }, 0, now, times)).toEqual({ action: "finish", entry });
});

test("no record: one is created first", () => {
  expect(decideDelivery(undefined, now, now, times)).toEqual({ action: "create-record" });
});
