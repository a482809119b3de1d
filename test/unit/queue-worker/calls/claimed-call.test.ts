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

const end = { now: 5, status: 503, duration: 1, error: undefined };
const toWaiting = (entry: CallEntry): CallEntry => waitingEntry(entry, end, 9);

let ledger: MemoryCallLedger;
let lease: Lease;
let id: string;

beforeEach(() => {
  ledger = new MemoryCallLedger();
  lease = new Lease({ ackWait: 10_000, deliveredAt: performance.now(), extend: () => true });
  id = randomUUID();
});
afterEach(() => lease.close());

async function hold(on: CallLedger = ledger): Promise<ClaimedCall> {
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

test("a change is written over what it holds", async () => {
  const held = await hold();
  expect(await held.change(toWaiting)).toBe("stored");
  expect((await ledger.read(id))?.entry).toMatchObject({ state: "waiting", next: 9, owner: null });
  expect(held.entry.state).toBe("waiting");
  expect(held.record.revision).toBe((await ledger.read(id))?.revision);
});

test("a touch changes nothing but the age, and when the record expires", async () => {
  const held = await hold();
  const before = await ledger.read(id);
  expect(await held.touch()).toBe("ours");
  const after = await ledger.read(id);
  expect(after?.entry).toEqual({ ...before?.entry, expires: expect.any(Number) });
  expect(after?.revision).not.toBe(before?.revision);
  expect(await held.change(toWaiting)).toBe("stored");
});

test("a change whose answer was lost counts as stored, and is not made twice", async () => {
  for (const nth of [1, 2]) {
    id = randomUUID();
    const held = await hold(under({ operation: "CallLedger.update", fault: { kind: "answer-lost" }, nth }));
    if (nth === 2) await held.touch();
    expect(await held.change(toWaiting)).toBe("stored");
    expect((await ledger.read(id))?.entry).toMatchObject({ state: "waiting", retries: 1 });
  }
});

test("a touch whose answer was lost does not stand in the way of what follows", async () => {
  const held = await hold(under({ operation: "CallLedger.update", fault: { kind: "answer-lost" }, nth: 1 }));
  expect(await held.touch()).toBe("no-answer");
  expect(await held.touch()).toBe("ours");
  expect(await held.change(toWaiting)).toBe("stored");
});

test("a cancelled call is cancelled for every change and touch that follows", async () => {
  const held = await hold();
  expect(await held.isCancelled()).toBe(false);
  await change((entry) => cancelledEntry(entry, 7));
  expect(await held.touch()).toBe("not-ours");
  expect(held.entry.state).toBe("cancelled");
  id = randomUUID();
  const other = await hold();
  await change((entry) => cancelledEntry(entry, 7));
  expect(await other.change(toWaiting)).toBe("cancelled");
  expect(other.entry).toMatchObject({ state: "cancelled", ended: 7 });
  expect(other.record.revision).toBe((await ledger.read(id))?.revision);
  expect(await other.isCancelled()).toBe(true);
});

test("a call that was seen to be cancelled is never written over, whoever looked", async () => {
  const held = await hold();
  await change((entry) => cancelledEntry(entry, 7));
  expect(await held.isCancelled()).toBe(true);
  const before = await ledger.read(id);
  expect(await held.change(toWaiting)).toBe("cancelled");
  expect(await held.touch()).toBe("not-ours");
  expect(await ledger.read(id)).toEqual(before);
});

test("a call that another took over is lost, and nothing of its record is changed", async () => {
  const held = await hold();
  await change(takeOver);
  const before = await ledger.read(id);
  expect(await held.touch()).toBe("not-ours");
  expect(await held.change(toWaiting)).toBe("lost");
  expect(await ledger.read(id)).toEqual(before);
  expect(held.entry.owner).toBe("me");
});

test("a call whose record is gone is lost", async () => {
  const held = await hold();
  await ledger.withdraw(id, held.record.revision);
  expect(await held.touch()).toBe("not-ours");
  expect(await held.change(toWaiting)).toBe("lost");
});

test("a change is tried again while nobody answers, until the lease is lost", async () => {
  const away: FaultRule = { operation: "*", fault: { kind: "unavailable" }, probability: 1 };
  const held = await hold(under(away));
  const before = performance.now();
  setTimeout(() => lease.close(), 100);
  lease.touchWith(() => held.touch());
  const lost = new Lease({ ackWait: 200, deliveredAt: before, extend: () => false });
  const hopeless = new ClaimedCall({
    id,
    ledger: under(away),
    lease: lost,
    taken: held.record,
  });
  expect(await hopeless.change(toWaiting)).toBe("lost");
  expect(performance.now() - before).toBeGreaterThanOrEqual(190);
  expect(await held.touch()).toBe("no-answer");
  expect(await held.isCancelled()).toBe(false);
  lost.close();
});

test("a change goes through once the broker is back", async () => {
  let away = true;
  const flaky = ledgerWith(ledger, {
    update: async (key, entry, revision) => {
      if (away) return { kind: "refused", because: "unavailable" };
      return ledger.update(key, entry, revision);
    },
  });
  const held = await hold(flaky);
  const changing = held.change(toWaiting);
  setTimeout(() => (away = false), 150);
  expect(await changing).toBe("stored");
});

test("touches and changes wait for each other", async () => {
  let under_ = 0;
  let most = 0;
  const slow = ledgerWith(ledger, {
    update: async (key, entry, revision) => {
      most = Math.max(most, ++under_);
      // All that would not wait is under way by the next turn, as the ledger is in memory.
      await nextTurn();
      under_--;
      return ledger.update(key, entry, revision);
    },
  });
  const held = await hold(slow);
  const outcomes = await Promise.all([held.touch(), held.touch(), held.change(toWaiting)]);
  expect(outcomes).toEqual(["ours", "ours", "stored"]);
  expect(most).toBe(1);
});
