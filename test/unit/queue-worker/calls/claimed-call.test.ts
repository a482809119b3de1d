import { randomUUID } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";

import { afterEach, beforeEach, expect, test } from "vitest";

import { MemoryCallLedger } from "../../../support/memory/memory-call-ledger.ts";
import type { CallEntry } from "../../../../runtime/core/calls/call-entry.ts";
import { cancelledEntry, claimedEntry, waitingEntry } from "../../../../runtime/core/calls/call-transitions.ts";
import type { CallLedger } from "../../../../runtime/core/ports/call-ledger.ts";
import { ClaimedCall } from "../../../../runtime/queue-worker/calls/claimed-call.ts";
import { Lease } from "../../../../runtime/queue-worker/lease.ts";
import { ledgerWith, sampleEntry, soon } from "../../../contract/samples.ts";
import { faultPlan, type FaultRule } from "../../../support/fault-plan.ts";
import { faultyCallLedger } from "../../../support/port-faults.ts";
import { useJumpingClock } from "../../../support/use-jumping-clock.ts";

const end = { now: 5, status: 503, duration: 1, error: undefined };
const toWaiting = (entry: CallEntry): CallEntry => waitingEntry(entry, end, 9);

useJumpingClock();

let ledger: MemoryCallLedger;
let lease: Lease;
let id: string;

beforeEach(() => {
  ledger = new MemoryCallLedger();
  lease = new Lease({ ackWait: 10_000, deliveredAt: performance.now(), extend: () => true });
  id = randomUUID();
});
afterEach(() => lease.close());

async function claim(on: CallLedger = ledger): Promise<ClaimedCall> {
  const held = claimedEntry(sampleEntry(), { owner: "me", takeover: false, now: 1, maxRetries: 3 });
  const created = await ledger.create(id, held, soon());
  if (created.kind !== "created") throw new Error(created.kind);
  const { revision } = created;
  return new ClaimedCall({ id, ledger: on, lease, taken: { entry: { ...held, expires: 0 }, revision } });
}
const under = (...rules: FaultRule[]): CallLedger => faultyCallLedger(ledger, faultPlan(rules, 1));
const change = async (make: (entry: CallEntry) => CallEntry): Promise<void> => {
  const found = await ledger.read(id);
  if (found !== undefined) await ledger.update(id, make(found.entry), found.revision);
};
const takeOver = (entry: CallEntry): CallEntry =>
  claimedEntry(entry, { owner: "other", takeover: true, now: 2, maxRetries: 3 });

test("a change replaces the claimed record", async () => {
  const claimed = await claim();
  expect(await claimed.change(toWaiting)).toBe("stored");
  expect((await ledger.read(id))?.entry).toMatchObject({ state: "waiting", next: 9, owner: null });
  expect(claimed.entry.state).toBe("waiting");
  expect(claimed.record.revision).toBe((await ledger.read(id))?.revision);
});

test("a renewal changes only the age and the expiry of the record", async () => {
  const claimed = await claim();
  const before = await ledger.read(id);
  expect(await claimed.touch()).toBe("ours");
  const after = await ledger.read(id);
  expect(after?.entry).toEqual({ ...before?.entry, expires: expect.any(Number) });
  expect(after?.revision).not.toBe(before?.revision);
  expect(await claimed.change(toWaiting)).toBe("stored");
});

test("a change whose response was lost counts as stored, and is not made twice", async () => {
  for (const nth of [1, 2]) {
    id = randomUUID();
    const claimed = await claim(under({ operation: "CallLedger.update", fault: { kind: "answer-lost" }, nth }));
    if (nth === 2) await claimed.touch();
    expect(await claimed.change(toWaiting)).toBe("stored");
    expect((await ledger.read(id))?.entry).toMatchObject({ state: "waiting", retries: 1 });
  }
});

test("a renewal whose response was lost does not block later changes", async () => {
  const claimed = await claim(under({ operation: "CallLedger.update", fault: { kind: "answer-lost" }, nth: 1 }));
  expect(await claimed.touch()).toBe("no-answer");
  expect(await claimed.touch()).toBe("ours");
  expect(await claimed.change(toWaiting)).toBe("stored");
});

test("a cancelled call is cancelled for every later change and renewal", async () => {
  const claimed = await claim();
  expect(await claimed.isCancelled()).toBe(false);
  await change((entry) => cancelledEntry(entry, 7));
  expect(await claimed.touch()).toBe("not-ours");
  expect(claimed.entry.state).toBe("cancelled");
  id = randomUUID();
  const other = await claim();
  await change((entry) => cancelledEntry(entry, 7));
  expect(await other.change(toWaiting)).toBe("cancelled");
  expect(other.entry).toMatchObject({ state: "cancelled", ended: 7 });
  expect(other.record.revision).toBe((await ledger.read(id))?.revision);
  expect(await other.isCancelled()).toBe(true);
});

test("a call that was seen as cancelled is never overwritten", async () => {
  const claimed = await claim();
  await change((entry) => cancelledEntry(entry, 7));
  expect(await claimed.isCancelled()).toBe(true);
  const before = await ledger.read(id);
  expect(await claimed.change(toWaiting)).toBe("cancelled");
  expect(await claimed.touch()).toBe("not-ours");
  expect(await ledger.read(id)).toEqual(before);
});

test("a call that another worker took over is lost, and its record is left alone", async () => {
  const claimed = await claim();
  await change(takeOver);
  const before = await ledger.read(id);
  expect(await claimed.touch()).toBe("not-ours");
  expect(await claimed.change(toWaiting)).toBe("lost");
  expect(await ledger.read(id)).toEqual(before);
  expect(claimed.entry.owner).toBe("me");
});

test("a call whose record is gone is lost", async () => {
  const claimed = await claim();
  await ledger.withdraw(id, claimed.record.revision);
  expect(await claimed.touch()).toBe("not-ours");
  expect(await claimed.change(toWaiting)).toBe("lost");
});

test("a change is retried without a response until the lease is lost", async () => {
  const unavailable: FaultRule = { operation: "*", fault: { kind: "unavailable" }, probability: 1 };
  const plan = faultPlan([unavailable], 1);
  const { record } = await claim();
  const began = performance.now();
  const short = new Lease({ ackWait: 2_000, deliveredAt: began, extend: () => false });
  const hopeless = new ClaimedCall({ id, ledger: faultyCallLedger(ledger, plan), lease: short, taken: record });
  expect(await hopeless.change(toWaiting)).toBe("lost");
  expect(performance.now() - began).toBeGreaterThanOrEqual(2_000);
  expect(performance.now() - began).toBeLessThan(2_200);
  expect(plan.happened.length).toBeGreaterThan(10);
  expect((await ledger.read(id))?.revision).toBe(record.revision);
});

test("without a response a renewal is tried once, and the call does not count as cancelled", async () => {
  const plan = faultPlan([{ operation: "*", fault: { kind: "unavailable" }, probability: 1 }], 1);
  const claimed = await claim(faultyCallLedger(ledger, plan));
  expect(await claimed.touch()).toBe("no-answer");
  expect(plan.happened).toEqual(["CallLedger.update running unavailable"]);
  expect(await claimed.isCancelled()).toBe(false);
});

test("a change succeeds once the broker is back", async () => {
  let refused = 0;
  const flaky = ledgerWith(ledger, {
    update: async (key, entry, revision) => {
      if (refused === 3) return ledger.update(key, entry, revision);
      refused += 1;
      return { kind: "refused", because: "unavailable" };
    },
  });
  const claimed = await claim(flaky);
  expect(await claimed.change(toWaiting)).toBe("stored");
  expect(refused).toBe(3);
  expect((await ledger.read(id))?.entry.state).toBe("waiting");
});

test("renewals and changes wait for each other", async () => {
  let active = 0;
  let most = 0;
  const slow = ledgerWith(ledger, {
    update: async (key, entry, revision) => {
      most = Math.max(most, ++active);
      // Any that do not wait would begin by the next turn, as the ledger is in memory.
      await nextTurn();
      active--;
      return ledger.update(key, entry, revision);
    },
  });
  const claimed = await claim(slow);
  const outcomes = await Promise.all([claimed.touch(), claimed.touch(), claimed.change(toWaiting)]);
  expect(outcomes).toEqual(["ours", "ours", "stored"]);
  expect(most).toBe(1);
});
