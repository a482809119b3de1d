import { expect, test } from "vitest";

import {
  acceptedEntry,
  callbackRedrivenEntry,
  cancelledEntry,
  endedEntry,
  handedBackEntry,
  isOpen,
  redrivenEntry,
  claimedEntry,
  waitingEntry,
} from "../../../../runtime/core/calls/call-transitions.ts";
import type { CallEntry, FailureReason } from "../../../../runtime/core/calls/call-entry.ts";
import { sampleCall, sampleEntry } from "../../../contract/samples.ts";

const now = 1_800_000_000_000;
const claim = (entry: CallEntry, takeover = false, at = now) =>
  claimedEntry(entry, { owner: "me", takeover, now: at, maxRetries: 4 });
const end = (status: number, error?: string) => ({ now: now + 50, status, duration: 12.5, error });

test("an accepted call is queued, with nothing of a run", () => {
  const call = sampleCall({ parentId: "6b1f7f6e-40a5-4a0e-9a53-3ad9f7a7f0d1" });
  const entry = acceptedEntry(call, { digest: "d", maxRetries: 3 });
  expect(entry).toMatchObject({
    v: 2,
    state: "queued",
    run: 0,
    retries: 0,
    lost: 0,
    redrives: 0,
    owner: null,
    attempts: [],
    pending: [],
  });
  expect(entry).toMatchObject({
    accepted: call.start.toString(),
    parent: call.parentId,
    digest: "d",
    maxRetries: 3,
  });
  expect(entry.callback).toEqual({ url: call.callbackUrl, state: "pending", attempts: 0 });
  expect(acceptedEntry(sampleCall({ callbackUrl: undefined }), { digest: "d", maxRetries: 3 }).callback).toBeNull();
});

test("a claimed call runs for its owner; the current retry rules count", () => {
  const entry = claim(sampleEntry());
  expect(entry).toMatchObject({ state: "running", run: 1, owner: "me", lost: 0, next: null, maxRetries: 4 });
  expect(entry.attempts).toEqual([{ number: 1, startedAt: now }]);
});

test("a takeover closes the attempt of the lost worker and counts it", () => {
  const entry = claim(claim(sampleEntry()), true, now + 60_000);
  expect(entry).toMatchObject({ run: 2, lost: 1, retries: 0 });
  expect(entry.attempts).toEqual([
    { number: 1, startedAt: now, endedAt: now + 60_000, error: "the queue-worker was lost" },
    { number: 2, startedAt: now + 60_000 },
  ]);
});

test("a waiting call has its attempt closed, no owner and a time", () => {
  const entry = waitingEntry(claim(sampleEntry()), end(503, "scaled-to-zero"), now + 5_000);
  expect(entry).toMatchObject({ state: "waiting", owner: null, retries: 1, next: now + 5_000, status: 503, lost: 0 });
  expect(entry.attempts).toEqual([
    {
      number: 1,
      startedAt: now,
      endedAt: now + 50,
      status: 503,
      duration: 12.5,
      error: "scaled-to-zero",
      next: now + 5_000,
    },
  ]);
  const again = claim(entry, false, now + 5_000);
  expect(again.attempts.map(({ number, error }) => [number, error])).toEqual([
    [1, "scaled-to-zero"],
    [2, undefined],
  ]);
  expect(again).toMatchObject({ run: 2, next: null, lost: 0 });
});

test("an attempt says who claimed it, where it ran and how long it waited for that", () => {
  const facts = { owner: "me", takeover: false, now, maxRetries: 4, worker: "node-1:4711" };
  const running = claimedEntry(sampleEntry(), facts);
  expect(running.attempts).toEqual([{ number: 1, startedAt: now, worker: "node-1:4711" }]);
  const place = { replica: "10.0.0.1:8080", coldStart: 1_400.4 };
  const at = { replica: "10.0.0.1:8080", coldStart: 1_400, worker: "node-1:4711" };
  expect(waitingEntry(running, { ...end(503), ...place }, now + 5_000).attempts).toMatchObject([at]);
  expect(handedBackEntry(running, now + 9, place).attempts).toMatchObject([at]);
  const done = endedEntry(running, {
    state: "done",
    end: { ...end(200), ...place, duration: 12.345_678 },
    result: null,
  });
  expect(done.attempts).toMatchObject([{ ...at, duration: 12.346 }]);
  const lost = claimedEntry(running, { ...facts, owner: "you", takeover: true, now: now + 60_000, worker: "node-2:1" });
  expect(lost.attempts.map(({ worker }) => worker)).toEqual(["node-1:4711", "node-2:1"]);
});

test("the record of a replay names the call that it replays", () => {
  const replayOf = "6b1f7f6e-40a5-4a0e-9a53-3ad9f7a7f0d1";
  const entry = acceptedEntry(sampleCall(), { digest: "d", maxRetries: 3, replayOf });
  expect(entry).toMatchObject({ replayOf, source: "replay" });
  for (const name of ["replayOf", "source"]) expect(sampleEntry()).not.toHaveProperty(name);
});

test("a redrive says when it was made", () => {
  const failed = endedEntry(claim(sampleEntry()), {
    state: "failed",
    end: end(500),
    reason: "exhausted",
    result: null,
  });
  expect(redrivenEntry(failed, 1, now + 99).redriven).toBe(now + 99);
  expect(callbackRedrivenEntry(failed, 1, now + 99).redriven).toBe(now + 99);
});

test("a call that was handed back counts neither as retry nor as lost", () => {
  const entry = handedBackEntry(claim(sampleEntry()), now + 9);
  expect(entry).toMatchObject({ state: "queued", owner: null, run: 1, retries: 0, lost: 0 });
  expect(entry.attempts).toEqual([{ number: 1, startedAt: now, endedAt: now + 9, error: "the queue-worker stopped" }]);
});

test("a done call has its callback pending, and one without a callback nothing", () => {
  const result = { run: 1, size: 3, stored: true, ttl: 5 };
  const entry = endedEntry(claim(sampleEntry()), { state: "done", end: end(200), result });
  expect(entry).toMatchObject({
    state: "done",
    reason: null,
    status: 200,
    ended: now + 50,
    owner: null,
    result,
    pending: ["callback"],
  });
  expect(entry.attempts).toEqual([{ number: 1, startedAt: now, endedAt: now + 50, status: 200, duration: 12.5 }]);
  expect(entry.callback?.state).toBe("pending");
  expect(endedEntry(claim(sampleEntry({ callback: null })), { state: "done", end: end(200), result }).pending).toEqual(
    [],
  );
});

test.each<[FailureReason, CallEntry["pending"]]>([
  ["rejected", ["callback"]],
  ["function_not_found", ["callback"]],
  ["exhausted", ["callback", "dead-letter"]],
  ["crash", ["callback", "dead-letter"]],
  ["expired", ["callback", "dead-letter"]],
  ["undecodable", ["callback", "dead-letter"]],
])("a call that failed by %s has %j pending", (reason, pending) => {
  expect(endedEntry(claim(sampleEntry()), { state: "failed", end: end(500), reason, result: null })).toMatchObject({
    reason,
    pending,
  });
});

test("the end of a call that does not run leaves its closed attempts alone", () => {
  const waiting = waitingEntry(claim(sampleEntry()), end(503), now + 5_000);
  const entry = endedEntry(waiting, { state: "failed", end: end(504, "expired"), reason: "expired", result: null });
  expect(entry.attempts).toEqual(waiting.attempts);
  expect(entry).toMatchObject({ next: null, status: 504 });
});

test("a cancelled call has no callback, and its message is still to be dropped", () => {
  const entry = cancelledEntry(claim(sampleEntry()), now + 7);
  expect(entry).toMatchObject({
    state: "cancelled",
    owner: null,
    next: null,
    ended: now + 7,
    callback: null,
    pending: ["message"],
  });
  expect(entry.attempts).toEqual([{ number: 1, startedAt: now, endedAt: now + 7, error: "cancelled" }]);
  expect(cancelledEntry(waitingEntry(claim(sampleEntry()), end(503), now), now).attempts[0]?.error).toBeUndefined();
});

test("every end closes its attempt, and of many attempts the first and the last 19 are shown", () => {
  let entry = sampleEntry();
  for (let run = 1; run <= 40; run++) entry = waitingEntry(claim(entry), end(500), now);
  expect(entry.attempts.map(({ number }) => number)).toEqual([1, ...Array.from({ length: 19 }, (_, n) => n + 22)]);
  expect(entry.attempts.every(({ endedAt }) => endedAt !== undefined)).toBe(true);
  expect(entry.run).toBe(40);
});

test("a record is open while something is pending", () => {
  const sent = { url: "http://x/", state: "sent", attempts: 1 } as const;
  const done = { state: "done", ended: now } as const;
  expect(isOpen(sampleEntry())).toBe(true);
  expect(isOpen(sampleEntry({ state: "waiting" }))).toBe(true);
  expect(isOpen(sampleEntry({ callback: null }))).toBe(true);
  expect(isOpen(sampleEntry({ ...done, callback: null }))).toBe(false);
  expect(isOpen(sampleEntry({ ...done, callback: null, pending: ["dead-letter"] }))).toBe(true);
  expect(isOpen(sampleEntry(done))).toBe(true);
  expect(isOpen(sampleEntry({ ...done, callback: sent }))).toBe(false);
  expect(isOpen(sampleEntry({ ...done, callback: sent, pending: ["callback"] }))).toBe(true);
  expect(isOpen(sampleEntry({ ...done, callback: { ...sent, state: "failed" } }))).toBe(false);
  const cancelled = cancelledEntry(sampleEntry(), now);
  expect(isOpen(cancelled)).toBe(true);
  expect(isOpen({ ...cancelled, pending: [] })).toBe(false);
});

test("a redrive resets the counters, continues the run numbers, and has the callback sent again", () => {
  const redrives = 2;
  const sent = { url: "http://x/", state: "failed", attempts: 3, status: 500, first: now } as const;
  const failed = endedEntry(waitingEntry(claim(sampleEntry({ lost: 3 })), end(503), now), {
    state: "failed",
    end: end(500),
    reason: "exhausted",
    result: { run: 1, size: 3, stored: true, ttl: 5 },
  });
  const pending = { url: "http://x/", state: "pending", attempts: 0 };
  expect(redrivenEntry({ ...failed, callback: sent }, redrives, now)).toEqual({
    ...failed,
    redrives,
    redriven: now,
    state: "queued",
    retries: 0,
    lost: 0,
    ended: null,
    reason: null,
    status: null,
    result: null,
    pending: [],
    callback: pending,
  });
  expect(callbackRedrivenEntry({ ...failed, callback: sent }, redrives, now)).toEqual({
    ...failed,
    redrives,
    redriven: now,
    callback: pending,
  });
  expect(redrivenEntry({ ...failed, callback: null }, redrives, now).callback).toBeNull();
});

test("an attempt that has ended keeps its end, and has no error unless there was one", () => {
  const waiting = waitingEntry(claim(sampleEntry()), end(503, "scaled-to-zero"), now + 5_000);
  expect(claim(waiting, true).attempts[0]).toEqual(waiting.attempts[0]);
  const done = endedEntry(claim(sampleEntry()), { state: "done", end: end(200), result: null });
  expect(Object.keys(done.attempts[0] ?? {})).not.toContain("error");
});
