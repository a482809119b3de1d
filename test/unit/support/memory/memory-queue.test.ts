import { describe, expect, test } from "vitest";

import { MemoryActivity } from "../../../support/memory/memory-activity.ts";
import { MemoryCallLedger } from "../../../support/memory/memory-call-ledger.ts";
import { encodeCall, MemoryCallQueue } from "../../../support/memory/memory-call-queue.ts";
import { MemoryCallSignals } from "../../../support/memory/memory-call-signals.ts";
import { MemoryCallbackQueue } from "../../../support/memory/memory-callback-queue.ts";
import { ManualClock } from "../../../support/memory/memory-clock.ts";
import { MemoryDeadLetters } from "../../../support/memory/memory-dead-letters.ts";
import { MemoryLeases } from "../../../support/memory/memory-leases.ts";
import { MemoryQueueCatalog } from "../../../support/memory/memory-queue-catalog.ts";
import { activityContract } from "../../../contract/activity.contract.ts";
import { callLedgerContract } from "../../../contract/call-ledger.contract.ts";
import { callQueueContract, idOf, TestTaker } from "../../../contract/call-queue.contract.ts";
import { callSignalsContract } from "../../../contract/call-signals.contract.ts";
import { callbackQueueContract } from "../../../contract/callback-queue.contract.ts";
import { deadLettersContract } from "../../../contract/dead-letters.contract.ts";
import { leasesContract } from "../../../contract/leases.contract.ts";
import { queueCatalogContract } from "../../../contract/queue-catalog.contract.ts";
import { queueStatesContract } from "../../../contract/queue-states.contract.ts";
import { sampleCall, sampleEntry, soon } from "../../../contract/samples.ts";

const close = async (): Promise<void> => {};

describe("MemoryCallQueue", () => {
  callQueueContract(async () => {
    const facts = { ackWait: 200, maxLength: 6 };
    const calls = new MemoryCallQueue({ ...facts, maxSize: 100 });
    return { calls, queue: "default", source: () => calls.source("default"), ...facts, tooLarge: 101, close };
  });

  test("bounds the calls of each function separately", async () => {
    const calls = new MemoryCallQueue({ ackWait: 200, maxLengthPerSubject: 1 });
    const other = { namespace: "functions", name: "other" };
    expect(await calls.put(sampleCall(), soon())).toEqual({ kind: "stored" });
    expect(await calls.put(sampleCall(), soon())).toMatchObject({ because: "full" });
    expect(await calls.put(sampleCall({ function: other }), soon())).toEqual({ kind: "stored" });
  });

  test("uses the given clock: leases, delays, two minutes for duplicate ids", async () => {
    const clock = new ManualClock();
    const calls = new MemoryCallQueue({ ackWait: 60_000, clock });
    const call = sampleCall();
    await calls.put(call, soon());
    const taker = new TestTaker(calls.source("default"), 3);
    const first = await taker.nth(0);
    clock.advance(59_999);
    expect(first.extend()).toBe(true);
    clock.advance(59_999);
    expect(await calls.put(call, soon())).toEqual({ kind: "stored" });
    expect(taker.taken.length).toBe(1);
    clock.advance(1);
    const second = await taker.nth(1);
    second.requeue(5_000);
    clock.advance(4_999);
    expect(taker.taken.length).toBe(2);
    clock.advance(1);
    const third = await taker.nth(2);
    expect(third.storedAt).toBe(first.storedAt);
    // The verdict of a consumer whose loan is over still counts, as it does in the broker.
    expect(await first.acknowledge()).toBe(true);
    expect(calls.size("default")).toBe(0);
    await calls.put(call, soon());
    expect(calls.size("default")).toBe(1);
    for (const delivery of taker.taken) taker.release(delivery);
    expect(idOf(await taker.nth(3))).toBe(call.id);
    await taker.end();
  });

  test("delivers what cannot be decoded, with the reason", async () => {
    const calls = new MemoryCallQueue({ ackWait: 60_000 });
    calls.putUnreadable("default", { headers: new Map([["X", "y"]]), body: Buffer.from("?") }, "it is none");
    const taker = new TestTaker(calls.source("default"), 1);
    const { content, raw } = await taker.nth(0);
    expect(content).toEqual({ unreadable: "it is none" });
    expect(raw.headers.get("X")).toBe("y");
    await taker.end();
  });
});

describe("MemoryCallbackQueue", () => {
  callbackQueueContract(async () => {
    const callbacks = new MemoryCallbackQueue({ ackWait: 60_000 });
    return { callbacks, source: callbacks.source(), close };
  });
});

describe("MemoryCallLedger", () => {
  callLedgerContract(async (lifetime) => ({
    ledger: new MemoryCallLedger({ lifetime, maxRecords: 10, maxResultBytes: 100 }),
    maxRecords: 10,
    halfFull: 60,
    close,
  }));

  test("uses the given clock", async () => {
    const clock = new ManualClock(1_000);
    const ledger = new MemoryCallLedger({ clock, lifetime: () => 5_000 });
    await ledger.create("a", sampleEntry(), soon());
    clock.advance(4_999);
    expect(ledger.timeLeft("a")).toBe(1);
    expect(await ledger.read("a")).toMatchObject({ writtenAt: 1_000 });
    clock.advance(1);
    expect(await ledger.read("a")).toBeUndefined();
    expect(ledger.ids()).toEqual([]);
  });
});

describe("MemoryCallSignals", () => {
  callSignalsContract(async () => {
    const signals = new MemoryCallSignals();
    return { here: signals, there: signals, close };
  });
});

describe("MemoryActivity", () => {
  activityContract(async () => {
    const activity = new MemoryActivity();
    return { here: activity, there: activity, close };
  });
});

describe("MemoryDeadLetters", () => {
  deadLettersContract(async () => ({ letters: new MemoryDeadLetters(), rawOf: encodeCall, close }));
});

describe("MemoryCallQueue, queue state", () => {
  queueStatesContract(async () => {
    const calls = new MemoryCallQueue({ ackWait: 60_000 });
    return { states: calls, calls, source: calls.source("default"), close };
  });
});

describe("MemoryQueueCatalog", () => {
  queueCatalogContract(async () => ({ catalog: new MemoryQueueCatalog(), close }));
});

describe("MemoryLeases", () => {
  leasesContract(async () => {
    const leases = new MemoryLeases();
    return { here: leases, there: leases, close };
  });
});
