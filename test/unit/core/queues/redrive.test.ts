import { beforeEach, describe, expect, test } from "vitest";

import { encodeCall, MemoryCallQueue } from "../../../support/memory/memory-call-queue.ts";
import { MemoryCallLedger } from "../../../support/memory/memory-call-ledger.ts";
import { MemoryCallbackQueue } from "../../../support/memory/memory-callback-queue.ts";
import { MemoryDeadLetters } from "../../../support/memory/memory-dead-letters.ts";
import type { CallEntry } from "../../../../runtime/core/calls/call-entry.ts";
import { recordLifetime } from "../../../../runtime/core/calls/call-ttl.ts";
import type { QueuedCall } from "../../../../runtime/core/calls/call.ts";
import { adviceOn, deadLetterView } from "../../../../runtime/core/queues/dead-letter-view.ts";
import type { CallQueue, PutOutcome } from "../../../../runtime/core/ports/call-queue.ts";
import type { DeadLetter } from "../../../../runtime/core/ports/dead-letters.ts";
import { decideRedrive } from "../../../../runtime/core/queues/redrive-decision.ts";
import { deleteDeadLetters, redriveCall, type RedriveParts } from "../../../../runtime/core/queues/redrive.ts";
import { ledgerWith, sampleCall, sampleCallback, sampleEntry, soon } from "../../../contract/samples.ts";
import { useJumpingClock } from "../../../support/use-jumping-clock.ts";

useJumpingClock();

const day = 24 * 3_600_000;
const times = { callMaxAge: 7 * day, callRecordTtl: 3_600_000, ackWait: 60_000 };
const url = "https://example.com/done?k=v";

let letters: MemoryDeadLetters;
let ledger: MemoryCallLedger;
let calls: MemoryCallQueue;
let callbacks: MemoryCallbackQueue;
let call: QueuedCall;
let parts: RedriveParts;

beforeEach(() => {
  letters = new MemoryDeadLetters();
  ledger = new MemoryCallLedger({ lifetime: recordLifetime(times) });
  calls = new MemoryCallQueue({ ackWait: 60_000 });
  callbacks = new MemoryCallbackQueue({ ackWait: 60_000 });
  call = sampleCall();
  parts = { letters, ledger, calls, callbacks, retriesOf: () => 10 };
});

const deadLetterOf = (over: Partial<DeadLetter> = {}): DeadLetter => ({
  kind: "call",
  id: call.id,
  queue: "default",
  function: call.function,
  reason: "exhausted",
  attempts: 4,
  lastStatus: 503,
  acceptedAt: 1_000,
  deadAt: 2_000,
  redrives: 0,
  ...encodeCall(call),
  ...over,
});
const letterFacts = {
  kind: "call",
  id: "6b1f7f6e-40a5-4a0e-9a53-3ad9f7a7f0d1",
  queue: "default",
  function: { namespace: "functions", name: "echo" },
  attempts: 4,
  lastStatus: 503,
  acceptedAt: 1_000,
  deadAt: 2_000,
  redrives: 0,
} as const;
const callbackLetter = (over: Partial<DeadLetter> = {}): DeadLetter => {
  const body = Buffer.from("out");
  const callback = { ...sampleCallback({ id: call.id, url }), output: { body, truncated: false } };
  return deadLetterOf({ kind: "callback", reason: "callback", headers: new Map(), body, callback, ...over });
};
const failed = (over: Partial<CallEntry> = {}): CallEntry =>
  sampleEntry(
    {
      state: "failed",
      reason: "exhausted",
      status: 503,
      run: 4,
      retries: 3,
      lost: 2,
      ended: Date.now(),
      result: { run: 4, size: 3, stored: true, ttl: 60_000 },
      callback: { url, state: "sent", attempts: 1, first: 5 },
      ...over,
    },
    call,
  );
const record = (entry: CallEntry) => ledger.create(call.id, entry, soon());
const entry = async () => (await ledger.read(call.id))?.entry;
const redrive = () => redriveCall(parts, "default", call.id);
const refusal = async (act: () => Promise<unknown>) => {
  const err: unknown = await act().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (typeof err !== "object" || err === null || !("code" in err)) throw new Error("nothing was refused");
  return err;
};

describe("a dead call", () => {
  test("is queued again under its id: counters reset, run numbers continued, letter removed", async () => {
    await record(failed());
    await letters.put(deadLetterOf());
    await redrive();
    expect(await entry()).toMatchObject({
      state: "queued",
      run: 4,
      retries: 0,
      lost: 0,
      reason: null,
      status: null,
      ended: null,
      result: null,
      pending: [],
      redrives: 1,
      accepted: call.start.toString(),
      callback: { url, state: "pending", attempts: 0 },
    });
    expect((await entry())?.callback).not.toHaveProperty("first");
    expect(ledger.timeLeft(call.id)).toBeGreaterThan(7 * day);
    expect(calls.size("default")).toBe(1);
    expect(letters.all()).toEqual([]);
  });

  test("whose record is gone gets a new one that continues from the letter", async () => {
    await letters.put(deadLetterOf({ redrives: 2 }));
    await redrive();
    expect(await entry()).toMatchObject({ state: "queued", run: 4, redrives: 3, maxRetries: 10 });
    expect(calls.size("default")).toBe(1);
  });

  test("removes its callback's letter, too, when both were given up", async () => {
    await record(failed({ callback: { url, state: "failed", attempts: 9 } }));
    await letters.put(deadLetterOf());
    await letters.put(callbackLetter());
    await redrive();
    expect([letters.all(), calls.size("default"), callbacks.size]).toEqual([[], 1, 0]);
  });

  test("continues a redrive that ended after the record was changed, also by two at once", async () => {
    await record(failed());
    await letters.put(deadLetterOf());
    const silent: CallQueue = { put: async () => ({ kind: "unknown" }) };
    expect(await refusal(() => redriveCall({ ...parts, calls: silent }, "default", call.id))).toMatchObject({
      code: "queue_unavailable",
      callQueued: "unknown",
      message: expect.stringContaining("redrive it again and it runs once"),
    });
    expect(await entry()).toMatchObject({ state: "queued", redrives: 1 });
    const before = await letters.find("default", call.id);
    expect(before).toHaveLength(1);
    await Promise.all([redrive(), redrive()]);
    expect(await entry()).toMatchObject({ state: "queued", redrives: 1 });
    expect([letters.all(), calls.size("default")]).toEqual([[], 1]);
  });

  test("two redrives at once count as one", async () => {
    await record(failed());
    await letters.put(deadLetterOf());
    const outcomes = await Promise.allSettled([redrive(), redrive(), redrive()]);
    expect(outcomes.filter(({ status }) => status === "fulfilled").length).toBeGreaterThan(0);
    expect(await entry()).toMatchObject({ redrives: 1 });
    expect(calls.size("default")).toBe(1);
  });

  test.each([
    ["full", "queue_full", "no"],
    ["unavailable", "queue_unavailable", "no"],
  ] as const)("stays what it was when the queue is %s", async (because, code, callQueued) => {
    const before = failed();
    await record(before);
    await letters.put(deadLetterOf());
    const refusing: CallQueue = { put: async (): Promise<PutOutcome> => ({ kind: "refused", because }) };
    expect(await refusal(() => redriveCall({ ...parts, calls: refusing }, "default", call.id))).toMatchObject({
      code,
      callQueued,
    });
    expect(await entry()).toEqual({ ...before, expires: expect.any(Number) });
    expect(letters.all()).toHaveLength(1);

    await ledger.withdraw(call.id, (await ledger.read(call.id))?.revision ?? 0);
    await refusal(() => redriveCall({ ...parts, calls: refusing }, "default", call.id));
    expect(await entry()).toBeUndefined();
  });

  test("a record that changes in between is read again", async () => {
    await record(failed());
    await letters.put(deadLetterOf());
    let races = 0;
    const racing = ledgerWith(ledger, {
      update: async (id, wanted, revision) => {
        if (races++ === 0) await ledger.update(id, failed({ redrives: 4 }), revision);
        return ledger.update(id, wanted, revision);
      },
    });
    await redriveCall({ ...parts, ledger: racing }, "default", call.id);
    expect(await entry()).toMatchObject({ state: "queued", redrives: 5 });
  });

  test.each([
    [{ state: "queued" }, "it is queued; try again in a moment"],
    [{ state: "running" }, "it is running; see /async-function/"],
    [{ state: "waiting" }, "it is waiting; see /async-function/"],
    [{ state: "done" }, "it is done; delete the dead letter"],
    [{ state: "cancelled" }, "it is cancelled; delete the dead letter"],
  ] as const)("is refused while its record says %j", async (over, sentence) => {
    await record(failed({ ...over, ended: null }));
    await letters.put(deadLetterOf());
    expect(await refusal(redrive)).toMatchObject({
      code: "call_not_redrivable",
      message: expect.stringContaining(`Cannot redrive call "${call.id}": ${sentence}`),
    });
    expect(letters.all()).toHaveLength(1);
  });

  test("is refused without its function, which would end it for good", async () => {
    await record(failed());
    await letters.put(deadLetterOf());
    parts = { ...parts, retriesOf: () => undefined };
    expect(await refusal(redrive)).toMatchObject({
      code: "call_not_redrivable",
      message: expect.stringContaining('function "echo.functions" does not exist; deploy it and redrive then'),
    });
    expect(await entry()).toMatchObject({ state: "failed" });
  });

  test("is refused when it cannot be decoded", async () => {
    await letters.put(deadLetterOf({ reason: "undecodable" }));
    expect(await refusal(redrive)).toMatchObject({
      code: "call_not_redrivable",
      message: expect.stringContaining("it can only be deleted"),
    });
  });
});

describe("a callback that was given up", () => {
  test("is sent again with its output, in a new window; the call does not run", async () => {
    await record(failed({ state: "done", reason: null, callback: { url, state: "failed", attempts: 9, first: 5 } }));
    await letters.put(callbackLetter());
    await redrive();
    expect(await entry()).toMatchObject({ state: "done", redrives: 1, callback: { state: "pending", attempts: 0 } });
    expect([calls.size("default"), callbacks.size, letters.all()]).toEqual([0, 1, []]);
  });

  test("is sent without its record, which is not created", async () => {
    await letters.put(callbackLetter());
    await redrive();
    expect(await entry()).toBeUndefined();
    expect(callbacks.size).toBe(1);
  });

  test("continues when the previous redrive ended in between", async () => {
    await record(failed({ redrives: 1, callback: { url, state: "pending", attempts: 0 } }));
    await letters.put(callbackLetter());
    await redrive();
    expect([(await entry())?.redrives, callbacks.size]).toEqual([1, 1]);
  });

  test.each([
    [{ callback: { url, state: "sent", attempts: 1 } }, "its callback was sent; delete the dead letter"],
    [{ callback: { url, state: "pending", attempts: 1 } }, "its callback is under way; try again in a moment"],
    [{ callback: null, state: "cancelled" }, "it has no callback any more; delete the dead letter"],
    [{ state: "running", ended: null }, "it is running and calls back at its end; delete the dead letter"],
  ] as const)("is refused while the record says %j", async (over, sentence) => {
    await record(failed(over));
    await letters.put(callbackLetter());
    expect(await refusal(redrive)).toMatchObject({ message: `Cannot redrive call "${call.id}": ${sentence}` });
  });
});

describe("dead letters", () => {
  test("are deleted together, and a missing one is not found", async () => {
    await letters.put(deadLetterOf());
    await letters.put(callbackLetter());
    await deleteDeadLetters(letters, "default", call.id);
    expect(letters.all()).toEqual([]);
    for (const act of [redrive, () => deleteDeadLetters(letters, "default", call.id)]) {
      expect(await refusal(act)).toMatchObject({
        code: "call_not_found",
        message: expect.stringContaining("/system/queue/default/dead-letters lists them"),
      });
    }
  });

  test("are shown without their headers, body and address, and with advice", async () => {
    await letters.put(callbackLetter());
    const [letter] = (await letters.list("default", 0, 1)).letters;
    if (letter === undefined) throw new Error("there is no letter");
    const view = deadLetterView(letter);
    expect(view).toEqual({
      callId: call.id,
      functionName: "echo",
      namespace: "functions",
      reason: "callback",
      attempts: 4,
      lastStatus: 503,
      acceptedAt: "1970-01-01T00:00:01.000Z",
      deadAt: "1970-01-01T00:00:02.000Z",
      size: 3,
      advice: expect.stringContaining("fix the receiver, then redrive"),
    });
    expect(deadLetterView({ ...letter, function: undefined })).not.toHaveProperty("functionName");
    for (const reason of ["exhausted", "crash", "expired", "undecodable", "callback"] as const) {
      expect(adviceOn({ ...letter, reason })).toMatch(/ (redrive|delete) .*\.$/);
    }
  });
});

describe("the advice on a dead letter", () => {
  const stored = { ...letterFacts, position: 1, size: 0 };

  test.each([
    ["exhausted", 'No retry was left, the last one ended with status 503: fix function "echo", then redrive'],
    ["crash", 'Its queue-workers ended while function "echo" ran it'],
    ["expired", "It grew too old before it could run"],
    ["callback", "its callback could not be delivered (status 503): fix the receiver"],
    ["undecodable", "It cannot be read as a call, so it cannot run"],
  ] as const)("%s: %s", (reason, advice) => {
    expect(adviceOn({ ...stored, reason })).toContain(advice);
  });

  test("is general where facts are not known", () => {
    const unknown = { ...stored, reason: "exhausted", function: undefined, lastStatus: undefined } as const;
    expect(adviceOn(unknown)).toContain("the last one ended with no status: fix the function, then redrive");
    expect(Object.keys(deadLetterView(unknown))).not.toContain("lastStatus");
  });
});

describe("what a redrive does", () => {
  const read = async () => {
    await letters.put(deadLetterOf({ redrives: 2 }));
    await letters.put(callbackLetter({ redrives: 2 }));
    const [ofCall, ofCallback] = await letters.find("default", call.id);
    if (ofCall === undefined || ofCallback === undefined) throw new Error("there are no letters");
    return { ofCall, ofCallback };
  };

  test("follows the letter of the call before that of its callback, in whatever order they come", async () => {
    const { ofCall, ofCallback } = await read();
    expect(decideRedrive([ofCallback, ofCall], undefined)).toMatchObject({
      action: "run",
      runs: 4,
      redrives: 3,
      record: "create",
    });
    expect(decideRedrive([ofCallback], undefined)).toMatchObject({ action: "call-back", redrives: 3, record: "keep" });
    expect(decideRedrive([], undefined)).toEqual({ action: "refuse", because: "there is no dead letter of it" });
  });

  test("continues from the higher of letter and record, and completes what was begun", async () => {
    const { ofCall, ofCallback } = await read();
    const pending = { url, state: "pending", attempts: 0 } as const;
    const lost = { url, state: "failed", attempts: 9 } as const;
    for (const [redrives, next] of [
      [1, 3],
      [7, 8],
    ] as const) {
      expect(decideRedrive([ofCall], failed({ redrives }))).toMatchObject({ redrives: next, record: "reset" });
      expect(decideRedrive([ofCallback], failed({ redrives, callback: lost }))).toMatchObject({
        action: "call-back",
        redrives: next,
        record: "reset",
      });
    }
    expect(decideRedrive([ofCall], failed({ state: "queued", redrives: 3 }))).toMatchObject({
      action: "run",
      redrives: 3,
      record: "keep",
    });
    expect(decideRedrive([ofCallback], failed({ redrives: 3, callback: pending }))).toMatchObject({
      action: "call-back",
      redrives: 3,
      record: "keep",
    });
    expect(decideRedrive([ofCallback], failed({ redrives: 2, callback: pending }))).toMatchObject({ action: "refuse" });
  });

  test("leaves a record alone that was changed before", async () => {
    await record(failed({ redrives: 1, callback: { url, state: "pending", attempts: 3 } }));
    await letters.put(callbackLetter());
    const before = await ledger.read(call.id);
    await redrive();
    expect(await ledger.read(call.id)).toEqual(before);
  });

  test("gives the record a new time to live, and restores the old one when the queue refuses", async () => {
    const long = 7 * day + day;
    await record(failed());
    await letters.put(deadLetterOf());
    const near = async (wanted: number) => Math.abs(((await entry())?.expires ?? 0) - Date.now() - wanted) < 5_000;
    const refusing: CallQueue = { put: async (): Promise<PutOutcome> => ({ kind: "refused", because: "full" }) };
    expect(await refusal(() => redriveCall({ ...parts, calls: refusing }, "default", call.id))).toMatchObject({
      message: expect.stringContaining(`Cannot redrive call "${call.id}": queue "default" is full`),
    });
    expect(await near(3_600_000)).toBe(true);
    await redrive();
    expect(await near(long)).toBe(true);
  });

  test("is given up when the record keeps changing for 3 s", async () => {
    await record(failed());
    await letters.put(deadLetterOf());
    const restless = ledgerWith(ledger, { update: async () => ({ kind: "conflict" }) });
    const began = performance.now();
    expect(await refusal(() => redriveCall({ ...parts, ledger: restless }, "default", call.id))).toMatchObject({
      code: "queue_unavailable",
      message: `Cannot redrive call "${call.id}": its record keeps changing; try again`,
      retryAfterSeconds: 1,
    });
    const waited = performance.now() - began;
    expect(waited).toBeGreaterThanOrEqual(3_000);
    expect(waited).toBeLessThanOrEqual(3_100);
  });

  test("names in its error what was requested, and how long the queue was waited for", async () => {
    expect(await refusal(redrive)).toMatchObject({ message: expect.stringMatching(/^Cannot redrive call /) });
    const remove = () => deleteDeadLetters(letters, "default", call.id);
    expect(await refusal(remove)).toMatchObject({ message: expect.stringMatching(/^Cannot delete call /) });
    await letters.put(deadLetterOf());
    const silent: CallQueue = { put: async () => ({ kind: "unknown" }) };
    expect(await refusal(() => redriveCall({ ...parts, calls: silent }, "default", call.id))).toMatchObject({
      message: expect.stringMatching(/no answer from the queue in \d+\.\d s; redrive it/),
      callId: call.id,
    });
  });

  test.each([
    ["full", { kind: "refused", because: "records-full" }, "queue_full"],
    ["silent", { kind: "unknown" }, "queue_unavailable"],
  ] as const)("needs a place for the new record: the ledger is %s", async (_what, outcome, code) => {
    await letters.put(deadLetterOf());
    const refusing = ledgerWith(ledger, { create: async () => outcome });
    expect(await refusal(() => redriveCall({ ...parts, ledger: refusing }, "default", call.id))).toMatchObject({
      code,
      message: expect.stringContaining(`Cannot redrive call "${call.id}": `),
    });
    expect([letters.all().length, calls.size("default")]).toEqual([1, 0]);
  });

  test("a new record is waited for as long as a change of one, and the error says how long that was", async () => {
    await letters.put(deadLetterOf());
    const budgets: number[] = [];
    const silent = ledgerWith(ledger, {
      create: async (_id, _entry, until) => {
        budgets.push(until - performance.now());
        return { kind: "unknown" };
      },
    });
    expect(await refusal(() => redriveCall({ ...parts, ledger: silent }, "default", call.id))).toMatchObject({
      message: expect.stringMatching(/no answer from the queue in \d+\.\d s; redrive it/),
      callId: call.id,
    });
    expect(budgets).toHaveLength(1);
    expect(budgets[0]).toBeGreaterThan(2_900);
    expect(budgets[0]).toBeLessThanOrEqual(3_000);
  });

  test("decides again when another creates the record first", async () => {
    await letters.put(deadLetterOf());
    const racing = ledgerWith(ledger, {
      create: async (id, wanted, until) => {
        await ledger.create(id, failed({ redrives: 4 }), soon());
        return ledger.create(id, wanted, until);
      },
    });
    await redriveCall({ ...parts, ledger: racing }, "default", call.id);
    expect(await entry()).toMatchObject({ state: "queued", redrives: 5 });
  });
});
