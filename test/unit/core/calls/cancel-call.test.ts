import { randomUUID } from "node:crypto";

import { beforeEach, expect, test } from "vitest";

import { MemoryCallLedger } from "../../../support/memory/memory-call-ledger.ts";
import { cancelCall } from "../../../../runtime/core/calls/cancel-call.ts";
import { recordLifetime } from "../../../../runtime/core/calls/call-ttl.ts";
import type { CallEntry } from "../../../../runtime/core/calls/call-entry.ts";
import { claimedEntry } from "../../../../runtime/core/calls/call-transitions.ts";
import type { CallLedger } from "../../../../runtime/core/ports/call-ledger.ts";
import { ledgerWith, sampleEntry, soon } from "../../../contract/samples.ts";
import { faultPlan, type FaultRule } from "../../../support/fault-plan.ts";
import { faultyCallLedger } from "../../../support/port-faults.ts";
import { useJumpingClock } from "../../../support/use-jumping-clock.ts";

useJumpingClock();

const times = { callMaxAge: 604_800_000, callRecordTtl: 3_600_000, ackWait: 60_000 };
const all = (): void => {};

let ledger: MemoryCallLedger;
let id: string;
let signalled: string[];

beforeEach(() => {
  ledger = new MemoryCallLedger({ lifetime: recordLifetime(times) });
  id = randomUUID();
  signalled = [];
});

const parts = (on: CallLedger = ledger) => ({
  ledger: on,
  signals: {
    cancelled: (each: string) => void signalled.push(`cancelled ${each}`),
    ended: (each: string) => void signalled.push(`ended ${each}`),
    onCancelled: () => () => {},
    onEnded: () => () => {},
  },
});
const under = (...rules: FaultRule[]): CallLedger => faultyCallLedger(ledger, faultPlan(rules, 1));
const record = (over: Partial<CallEntry> = {}) => ledger.create(id, sampleEntry(over), soon());

test.each(["queued", "waiting", "running"] as const)(
  "a %s call is cancelled, and the cancel is signalled",
  async (state) => {
    await record({ state, owner: state === "running" ? "somebody" : null });
    await cancelCall(parts(), id, all);
    expect((await ledger.read(id))?.entry).toMatchObject({ state: "cancelled", owner: null, callback: null });
    expect(ledger.timeLeft(id)).toBeGreaterThan(times.callMaxAge);
    expect(signalled).toEqual([`cancelled ${id}`, `ended ${id}`]);
  },
);

test("cancelling twice is the same as once; the signal is repeated, as it may have been lost", async () => {
  await record();
  await cancelCall(parts(), id, all);
  const found = await ledger.read(id);
  await cancelCall(parts(), id, all);
  expect(await ledger.read(id)).toEqual(found);
  expect(signalled.length).toBe(4);
});

test.each(["done", "failed"] as const)("a call that is %s cannot be cancelled", async (state) => {
  await record({ state, ended: 1 });
  await expect(cancelCall(parts(), id, all)).rejects.toMatchObject({
    code: "call_finished",
    message: `Cannot cancel call "${id}": it is ${state}`,
  });
  expect(signalled).toEqual([]);
});

test("an unknown call is not found", async () => {
  await expect(cancelCall(parts(), id, all)).rejects.toMatchObject({
    code: "call_not_found",
    message: `Cannot cancel call "${id}": it is unknown or expired`,
  });
});

test("a caller without the right changes nothing", async () => {
  await record();
  const refuse = (): never => {
    throw new Error("not yours");
  };
  await expect(cancelCall(parts(), id, refuse)).rejects.toThrow("not yours");
  expect((await ledger.read(id))?.entry.state).toBe("queued");
});

test("after a lost race the cancel is repeated with what the winner wrote", async () => {
  await record();
  let raced = false;
  const racing = ledgerWith(ledger, {
    update: async (key, entry, revision) => {
      if (!raced) {
        raced = true;
        await ledger.update(
          id,
          claimedEntry(sampleEntry(), { owner: "w", takeover: false, now: 1, maxRetries: 1 }),
          revision,
        );
      }
      return ledger.update(key, entry, revision);
    },
  });
  await cancelCall(parts(racing), id, all);
  expect((await ledger.read(id))?.entry).toMatchObject({ state: "cancelled", run: 1 });
});

test("a lost response is resolved by reading", async () => {
  await record();
  const lost = under({ operation: "CallLedger.update", fault: { kind: "answer-lost" }, nth: 1 });
  await cancelCall(parts(lost), id, all);
  expect(signalled).toContain(`cancelled ${id}`);
  expect((await ledger.read(id))?.entry.state).toBe("cancelled");
});

test("a write that won, though its repeat lost, is signalled", async () => {
  await record();
  // Acts as an adapter that repeats a write whose response was lost: the repeat finds the revision changed.
  const repeating = ledgerWith(ledger, {
    update: async (key, entry, revision) => {
      await ledger.update(key, entry, revision);
      return { kind: "conflict" };
    },
  });
  await cancelCall(parts(repeating), id, all);
  expect(signalled).toEqual([`cancelled ${id}`, `ended ${id}`]);
});

test("a cancelled record expires when its time to live is over", async () => {
  await record();
  await cancelCall(parts(), id, all);
  const expires = (await ledger.read(id))?.entry.expires ?? 0;
  expect(Math.abs(expires - ledger.now() - times.callMaxAge - 86_400_000)).toBeLessThan(5_000);
});

test("a record that keeps changing, and a broker without room, are errors after 3 s", async () => {
  await record();
  for (const [outcome, reason] of [
    [{ kind: "conflict" }, "its record keeps changing"],
    [{ kind: "refused", because: "full" }, "the broker has no room"],
    [{ kind: "unknown" }, "the broker did not store it"],
  ] as const) {
    const failing = ledgerWith(ledger, { update: async () => outcome });
    const began = performance.now();
    await expect(cancelCall(parts(failing), id, all)).rejects.toMatchObject({
      code: "queue_unavailable",
      message: `Cannot cancel call "${id}": ${reason}; try again`,
      retryAfterSeconds: 1,
    });
    const waited = performance.now() - began;
    expect(waited).toBeGreaterThanOrEqual(3_000);
    expect(waited).toBeLessThanOrEqual(3_100);
  }
  expect(signalled).toEqual([]);
});
