import { randomUUID } from "node:crypto";

import { beforeEach, describe, expect, test } from "vitest";

import { MemoryCallLedger } from "../../../support/memory/memory-call-ledger.ts";
import { MemoryCallQueue } from "../../../support/memory/memory-call-queue.ts";
import { PlatformError } from "../../../../runtime/api/platform-error.ts";
import { publicly } from "../../../../runtime/api/public-sentence.ts";
import { acceptCall, type Accepted } from "../../../../runtime/core/calls/accept-call.ts";
import { recordLifetime } from "../../../../runtime/core/calls/call-ttl.ts";
import { notStoredEntry } from "../../../../runtime/core/calls/call-transitions.ts";
import { callDigest, derivedCallId } from "../../../../runtime/core/calls/call-digest.ts";
import type { QueuedCall } from "../../../../runtime/core/calls/call.ts";
import type { PutOutcome } from "../../../../runtime/core/ports/call-queue.ts";
import { refusedPut } from "../../../../runtime/core/queues/queue-refusal.ts";
import { TestTaker } from "../../../contract/call-queue.contract.ts";
import { sampleCall, sampleEntry, soon } from "../../../contract/samples.ts";
import { eventually } from "../../../support/eventually.ts";
import { faultPlan, type FaultRule, type PortFault } from "../../../support/fault-plan.ts";
import { faultyCallLedger, faultyCallQueue } from "../../../support/port-faults.ts";

const acceptTimeout = 12_000;
const times = { callMaxAge: 604_800_000, callRecordTtl: 3_600_000, ackWait: 60_000 };

let calls: MemoryCallQueue;
let ledger: MemoryCallLedger;

beforeEach(() => {
  calls = new MemoryCallQueue({ ackWait: 60_000, maxLength: 3 });
  ledger = new MemoryCallLedger({ maxRecords: 4, lifetime: recordLifetime(times) });
});

function accept(call: QueuedCall, ...rules: FaultRule[]): Promise<Accepted> {
  const plan = faultPlan(rules, 1);
  return acceptCall(
    { calls: faultyCallQueue(calls, plan), ledger: faultyCallLedger(ledger, plan), acceptTimeout },
    call,
    7,
  );
}

async function refusal(accepting: Promise<Accepted>): Promise<PlatformError> {
  const err = await accepting.then(
    () => expect.fail("it was accepted"),
    (thrown: unknown) => thrown,
  );
  return err instanceof PlatformError ? err : expect.fail(String(err));
}

/** The calls in the queue. */
async function stored(): Promise<QueuedCall[]> {
  const count = calls.size("default");
  const taker = new TestTaker(calls.source("default"), count + 1);
  const found: QueuedCall[] = [];
  for (let n = 0; n < count; n++) {
    const { content } = await taker.nth(n);
    if ("read" in content) found.push(content.read);
  }
  for (const delivery of taker.taken) await taker.finish(delivery);
  await taker.end();
  return found;
}

test("stores record and call, and returns the id that was sent", async () => {
  const call = sampleCall();
  expect(await accept(call)).toEqual({ id: call.id, start: call.start });
  const record = await ledger.read(call.id);
  expect(record?.entry).toMatchObject({
    state: "queued",
    digest: callDigest(call),
    maxRetries: 7,
    accepted: call.start.toString(),
  });
  expect(ledger.timeLeft(call.id)).toBeGreaterThan(times.callMaxAge + 86_000_000);
  expect(Math.abs((record?.entry.expires ?? 0) - ledger.now() - times.callMaxAge - 86_400_000)).toBeLessThan(5_000);
  expect((await stored()).map(({ id }) => id)).toEqual([call.id]);
});

test("a replay names what it replays, in its record", async () => {
  const [call, replayed] = [sampleCall(), randomUUID()];
  await acceptCall({ calls, ledger, acceptTimeout }, call, 7, { replayOf: replayed });
  expect((await ledger.read(call.id))?.entry).toMatchObject({ replayOf: replayed, source: "replay" });
});

test("the same id and digest again: same id, time of the first acceptance, one stored call", async () => {
  const call = sampleCall();
  await accept(call);
  for (let n = 0; n < 3; n++)
    expect(await accept({ ...call, start: call.start + 5n, headers: [] })).toEqual({ id: call.id, start: call.start });
  expect((await stored()).length).toBe(1);
});

test("the same id and digest while the call runs or has ended: 202 without another call", async () => {
  for (const state of ["running", "waiting", "done", "failed", "cancelled"] as const) {
    const call = sampleCall();
    ledger = new MemoryCallLedger();
    await ledger.create(call.id, sampleEntry({ state, digest: callDigest(call), accepted: "42" }), soon());
    expect(await accept(call)).toEqual({ id: call.id, start: 42n });
    expect(calls.size("default")).toBe(0);
  }
});

test("the same id with another digest: another call under a derived id, the same for repeats", async () => {
  const call = sampleCall();
  const other = { ...call, body: Buffer.from("other") };
  await accept(call);
  const derived = derivedCallId(call.id, callDigest(other));
  expect((await accept(other)).id).toBe(derived);
  expect((await accept(other)).id).toBe(derived);
  const found = await stored();
  expect(found.map(({ id, parentId }) => [id, parentId])).toEqual([
    [call.id, undefined],
    [derived, call.id],
  ]);
  expect((await ledger.read(derived))?.entry.parent).toBe(call.id);
});

test("the same call from many clients at once is stored once, and all get the same id", async () => {
  const call = sampleCall();
  const accepted = await Promise.all(Array.from({ length: 10 }, () => accept(call)));
  expect(new Set(accepted.map(({ id }) => id)).size).toBe(1);
  expect((await stored()).length).toBe(1);
});

describe("refusals", () => {
  test("a full queue: 429, surely not queued, record removed", async () => {
    for (let n = 0; n < 3; n++) await accept(sampleCall());
    const call = sampleCall();
    const err = await refusal(accept(call));
    expect(err).toMatchObject({ code: "queue_full", callQueued: "no", callId: undefined });
    expect(err.message).toContain(`Cannot queue call "${call.id}"`);
    expect(err.retryAfterSeconds).toBeGreaterThan(0);
    await eventually(async () => (await ledger.read(call.id)) === undefined, {
      what: "the record to be removed",
    });
    await stored();
    expect((await accept(call)).id).toBe(call.id);
    expect((await stored()).length).toBe(1);
  });

  test("a full ledger: 429, surely not queued, nothing stored", async () => {
    for (let n = 0; n < 4; n++) await ledger.create(randomUUID(), sampleEntry(), soon());
    const call = sampleCall();
    const message = expect.stringContaining(`Cannot queue call "${call.id}": there are as many calls as`);
    expect(await refusal(accept(call))).toMatchObject({ code: "queue_full", callQueued: "no", message });
    expect(calls.size("default")).toBe(0);
  });

  test("a call that is too large: 413, record removed", async () => {
    calls = new MemoryCallQueue({ ackWait: 60_000, maxSize: 3 });
    const call = sampleCall();
    expect(await refusal(accept(call))).toMatchObject({ code: "payload_too_large" });
    await eventually(() => ledger.ids().length === 0, { what: "the record to be removed" });
  });

  test("a broker unavailable for the record, or for the call: 503, surely not queued, record removed", async () => {
    for (const operation of ["CallLedger.create", "CallQueue.put"]) {
      const call = sampleCall();
      const err = await refusal(accept(call, { operation, fault: { kind: "unavailable" }, nth: 1 }));
      expect(err).toMatchObject({ code: "queue_unavailable", callQueued: "no" });
      await eventually(() => ledger.ids().length === 0, { what: "the record to be removed" });
      expect(calls.size("default")).toBe(0);
    }
  });

  test.each<[string, PortFault["kind"], number]>([
    ["CallLedger.create", "timed-out", 0],
    ["CallLedger.create", "answer-lost", 0],
    ["CallQueue.put", "timed-out", 0],
    ["CallQueue.put", "answer-lost", 1],
  ])(
    "no response to %s (%s): 503, perhaps queued; sent again under the same id it is stored once",
    async (operation, kind, left) => {
      const call = sampleCall();
      const fault: PortFault = kind === "timed-out" ? { kind: "timed-out" } : { kind: "answer-lost" };
      const err = await refusal(accept(call, { operation, fault, nth: 1 }));
      expect(err).toMatchObject({ code: "queue_unavailable", callQueued: "unknown", callId: call.id });
      expect(err.message).toContain(`Cannot queue call "${call.id}": no answer from the queue in `);
      expect(calls.size("default")).toBe(left);
      expect((await accept(call)).id).toBe(call.id);
      expect((await stored()).map(({ id }) => id)).toEqual([call.id]);
    },
  );

  test("a repeat whose record another request created: perhaps queued, and the record stays", async () => {
    const call = sampleCall();
    await accept(call);
    const err = await refusal(accept(call, { operation: "CallQueue.put", fault: { kind: "unavailable" }, nth: 1 }));
    expect(err).toMatchObject({ code: "queue_unavailable", callQueued: "unknown", callId: call.id });
    expect(await ledger.read(call.id)).toBeDefined();
  });

  test("a repeat under another digest names the id to use", async () => {
    const call = sampleCall();
    await accept(call);
    const other = { ...call, path: "/other" };
    const err = await refusal(accept(other, { operation: "CallQueue.put", fault: { kind: "timed-out" }, nth: 1 }));
    expect(err.callId).toBe(derivedCallId(call.id, callDigest(other)));
  });
});

describe("with random faults", () => {
  const kinds: readonly PortFault[] = [{ kind: "timed-out" }, { kind: "answer-lost" }, { kind: "unavailable" }];
  const rules = kinds.flatMap((fault) =>
    ["CallLedger.create", "CallQueue.put", "CallLedger.read"].map((operation) => ({
      operation,
      fault,
      probability: 0.15,
    })),
  );

  test.each(Array.from({ length: 20 }, (_, seed) => seed))(
    "a 202 means stored once, a `no` means not stored (seed %i)",
    async (seed) => {
      const plan = faultPlan(rules, seed);
      const queue = new MemoryCallQueue({ ackWait: 60_000, maxLength: 25 });
      const records = new MemoryCallLedger();
      const parts = { calls: faultyCallQueue(queue, plan), ledger: faultyCallLedger(records, plan), acceptTimeout };
      const accepted = new Set<string>();
      const never = new Set<string>();
      for (let n = 0; n < 40; n++) {
        const call = sampleCall();
        let unsure = false;
        for (let attempt = 0; attempt < 4; attempt++) {
          const outcome: unknown = await acceptCall(parts, call, 7).catch((err: unknown) => err);
          if (!(outcome instanceof Error)) {
            accepted.add(call.id);
            break;
          }
          if (!(outcome instanceof PlatformError)) throw outcome;
          if (outcome.callQueued === "unknown") unsure = true;
        }
        if (!accepted.has(call.id) && !unsure) never.add(call.id);
      }
      calls = queue;
      const ids = (await stored()).map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      for (const id of accepted) expect(ids).toContain(id);
      for (const id of never) {
        expect(ids).not.toContain(id);
        expect(await records.read(id)).toBeUndefined();
      }
      expect(plan.happened.length).toBeGreaterThan(0);
    },
  );
});

test.each([
  ["one server three seconds", false, 12_000, 3_000],
  ["one server less if it is set", false, 1_000, 1_000],
  ["several servers as long as is set", true, 12_000, 12_000],
])("a queue with %s, in all", async (_what, isReplicated, longest, waited) => {
  const untils: number[] = [];
  const put = async (_call: QueuedCall, until: number): Promise<PutOutcome> => {
    untils.push(until);
    return { kind: "stored" };
  };
  const before = performance.now();
  await acceptCall({ calls: { put, isReplicated }, ledger, acceptTimeout: longest }, sampleCall(), 7);
  expect(untils[0]).toBeGreaterThanOrEqual(before + waited);
  expect(untils[0]).toBeLessThan(before + waited + 200);
});

test.each([
  [undefined, "the queue cannot be reached", ""],
  ["away", "the queue cannot be reached", ""],
  ["no-leader", "the servers of the queue are choosing a leader", ", whose servers are choosing a leader"],
  ["full", "the disk of the queue is full", ", whose disk is full"],
  ["io-error", "the disk of the queue fails", ", whose disk fails"],
] as const)("why nothing is stored has a sentence of its own: %s", async (fault, refused, unanswered) => {
  const outcomes: PutOutcome[] = [
    { kind: "refused", because: "unavailable", fault },
    { kind: "unknown", fault },
  ];
  const put = async (): Promise<PutOutcome> => outcomes.shift() ?? { kind: "stored" };
  const parts = { calls: { put }, ledger, acceptTimeout };
  expect((await refusal(acceptCall(parts, sampleCall(), 7))).message).toContain(`: ${refused}; send it again`);
  expect((await refusal(acceptCall(parts, sampleCall(), 7))).message).toContain(
    `no answer from the queue${unanswered} in `,
  );
});

test.each([
  ["full", "queue_full", 5, 'queue "slow" is full; send it again later, or see /system/queue/slow'],
  ["records-full", "queue_full", 5, "there are as many calls as there is room for their records"],
  ["store-full", "store_full", 5, "the broker's store is nearly full; send it again later, or give it more room"],
  ["too-large", "payload_too_large", undefined, "body and headers are over the limit of the queue; store the body"],
  ["unavailable", "queue_unavailable", 1, "the queue cannot be reached; send it again later"],
] as const)("a refusal has a reason and advice: %s", (because, code, retryAfterSeconds, reason) => {
  const cause = new Error("the cause");
  const err = refusedPut(publicly`queue call "x"`, "slow", { kind: "refused", because, cause });
  expect(err).toMatchObject({ code, callQueued: "no", retryAfterSeconds, cause });
  expect(err.message).toContain(`Cannot queue call "x": ${reason}`);
});

test("a call that was ended as not stored is accepted again under its id, and once", async () => {
  const call = sampleCall({ callbackUrl: "http://127.0.0.1:1/done" });
  await ledger.create(call.id, sampleEntry({ digest: callDigest(call) }, call), soon());
  const { entry, revision } = (await ledger.read(call.id)) ?? expect.fail("there is no record");
  await ledger.update(call.id, notStoredEntry(entry, 1), revision);
  expect(await Promise.all([accept(call), accept(call)])).toEqual([
    { id: call.id, start: call.start },
    { id: call.id, start: call.start },
  ]);
  expect((await ledger.read(call.id))?.entry).toMatchObject({
    state: "queued",
    reason: null,
    ended: null,
    callback: { state: "pending" },
  });
  expect(await stored()).toMatchObject([{ id: call.id }]);
});
