import { Value } from "typebox/value";
import { describe, expect, test } from "vitest";

import type { TimelineStep } from "../../../../runtime/api/schemas/history/timeline-step.ts";
import { TimelineStep as TimelineStepSchema } from "../../../../runtime/api/schemas/history/timeline-step.ts";
import { callbackAfter, type CallbackVerdict } from "../../../../runtime/core/callbacks/decide-callback.ts";
import type { CallEntry } from "../../../../runtime/core/calls/call-entry.ts";
import {
  callbackRedrivenEntry,
  cancelledEntry,
  claimedEntry,
  endedEntry,
  givenUpRun,
  handedBackEntry,
  redrivenEntry,
  waitingEntry,
} from "../../../../runtime/core/calls/call-transitions.ts";
import { callChangeRow } from "../../../../runtime/core/history/call-change-row.ts";
import { callTimeline } from "../../../../runtime/core/history/call-timeline.ts";
import type { HistoryCall } from "../../../../runtime/core/history/history-row.ts";
import { sampleCall, sampleEntry } from "../../../contract/samples.ts";

const id = "6b1f7f6e-40a5-4a0e-9a53-3ad9f7a7f0d1";
const zero = Date.UTC(2026, 0, 31, 12, 0, 0);
const hour = 3_600_000;
const queued = sampleEntry(
  { expires: zero + 24 * hour },
  sampleCall({ id, start: BigInt(zero) * 1_000_000n, callbackUrl: "https://u.example/p" }),
);
const silent: CallEntry = { ...queued, callback: null };

/** `seconds` after the acceptance. */
const at = (seconds: number): number => zero + seconds * 1_000;
const text = (seconds: number): string => new Date(at(seconds)).toISOString();

function claim(entry: CallEntry, seconds: number, worker: string, takeover = false): CallEntry {
  return claimedEntry(entry, { owner: worker, takeover, now: at(seconds), maxRetries: 10, worker });
}
const runEnd = (seconds: number, status: number, error?: string) => ({
  now: at(seconds),
  status,
  duration: 500,
  error,
  replica: "10.0.0.1:8080",
});
function done(entry: CallEntry, seconds: number): CallEntry {
  return endedEntry(entry, { state: "done", end: runEnd(seconds, 200), result: null });
}
function failed(entry: CallEntry, seconds: number, error?: string): CallEntry {
  const end = runEnd(seconds, 503, error);
  return { ...endedEntry(entry, { state: "failed", reason: "exhausted", end, result: null }), pending: [] };
}
function calledBack(entry: CallEntry, seconds: number, verdict: CallbackVerdict): CallEntry {
  const { callback } = entry;
  if (callback === null) return entry;
  const times = { startedAt: at(seconds), now: at(seconds) + 30, first: callback.first ?? at(seconds), until: at(900) };
  return { ...entry, pending: [], callback: callbackAfter(callback, verdict, times) };
}

/** The timeline after all of these records were seen. */
function timelineOf(entries: readonly CallEntry[], now = at(60)): readonly TimelineStep[] {
  return callTimeline(callOf(entries), now);
}
function callOf(entries: readonly CallEntry[]): HistoryCall {
  let call: HistoryCall | undefined;
  for (const [index, entry] of entries.entries()) {
    const after = callChangeRow(call, { kind: "entry", id, revision: index + 1, entry });
    if (after !== "unchanged") call = after;
  }
  return call ?? expect.fail("there is no call");
}
const kindsOf = (timeline: readonly TimelineStep[]): string[] =>
  timeline.map(({ kind, attempt }) => (attempt === undefined ? kind : `${kind} ${attempt}`));

test("a call that was retried, taken over after its worker died, and called back on the third try", () => {
  const waiting = waitingEntry(claim(queued, 1, "node-1:10"), runEnd(2, 503), at(12));
  const doomed = claim(waiting, 12, "node-1:10");
  const takenOver = claim(doomed, 73, "node-2:20", true);
  const ended = endedEntry(takenOver, {
    state: "done",
    end: { ...runEnd(75, 200), replica: "10.0.0.2:8080", coldStart: 900 },
    result: null,
  });
  const first = calledBack(ended, 75, { kind: "retry", delay: 500, status: 503, error: "answered 503" });
  const second = calledBack(first, 76, { kind: "retry", delay: 1_000, status: undefined, error: "ECONNREFUSED" });
  const third = calledBack(second, 78, { kind: "sent", status: 204 });
  const timeline = timelineOf([queued, waiting, doomed, takenOver, ended, first, second, third]);
  const replica = "10.0.0.1:8080";
  expect(timeline).toEqual([
    { at: text(0), kind: "accepted" },
    { at: text(1), kind: "taken", attempt: 1, worker: "node-1:10" },
    { at: text(1.5), kind: "started", attempt: 1, replica },
    { at: text(2), kind: "answered", attempt: 1, replica, status: 503, ms: 500 },
    { at: text(2), kind: "retry", attempt: 1, reason: "answered 503", next: text(12) },
    { at: text(12), kind: "taken", attempt: 2, worker: "node-1:10" },
    { at: text(73), kind: "lost", attempt: 2, worker: "node-1:10", reason: "the queue-worker was lost" },
    { at: text(73), kind: "taken", attempt: 3, worker: "node-2:20" },
    { at: text(74.5), kind: "started", attempt: 3, replica: "10.0.0.2:8080" },
    { at: text(75), kind: "answered", attempt: 3, replica: "10.0.0.2:8080", status: 200, ms: 500 },
    { at: text(75), kind: "ended", status: 200 },
    { at: text(75), kind: "callbackTry", attempt: 1, status: 503, ms: 30, reason: "answered 503" },
    { at: text(76), kind: "callbackTry", attempt: 2, ms: 30, reason: "ECONNREFUSED" },
    { at: text(78), kind: "callbackTry", attempt: 3, status: 204, ms: 30 },
    { at: text(78.03), kind: "callbackEnded", status: 204 },
  ]);
  for (const step of timeline) expect([...Value.Errors(TimelineStepSchema, step)]).toEqual([]);
  // Only the last record was seen: it shows all of that itself.
  expect(timelineOf([third])).toEqual(timeline);
});

test("a run without a reply is retried with its error, and has no replica if it reached none", () => {
  const error = 'Cannot wake function "echo.functions": no replica ready after 60 s';
  const waiting = waitingEntry(
    claim(silent, 1, "node-1:10"),
    { now: at(61), status: 503, duration: 60_000, error, coldStart: 60_000 },
    at(70),
  );
  expect(timelineOf([silent, waiting])).toEqual([
    { at: text(0), kind: "accepted" },
    { at: text(1), kind: "taken", attempt: 1, worker: "node-1:10" },
    { at: text(61), kind: "retry", attempt: 1, status: 503, ms: 60_000, reason: error, next: text(70) },
  ]);
});

test("a running call was taken; where it runs is not known before it ends", () => {
  expect(kindsOf(timelineOf([silent, claim(silent, 1, "node-1:10")]))).toEqual(["accepted", "taken 1"]);
});

test("a call that was handed back, then ended", () => {
  const back = handedBackEntry(claim(silent, 1, "node-1:10"), at(2), { replica: "10.0.0.1:8080" });
  const timeline = timelineOf([silent, back, done(claim(back, 3, "node-2:20"), 4)]);
  expect(kindsOf(timeline)).toEqual([
    "accepted",
    "taken 1",
    "started 1",
    "handedBack 1",
    "taken 2",
    "started 2",
    "answered 2",
    "ended",
  ]);
  expect(timeline[3]).toMatchObject({ worker: "node-1:10", reason: "the queue-worker stopped" });
});

test("a call that was cancelled: while it ran, and while it waited for a retry", () => {
  const running = claim(silent, 1, "node-1:10");
  expect(timelineOf([silent, running, cancelledEntry(running, at(2))]).slice(-2)).toEqual([
    { at: text(2), kind: "cancelled", attempt: 1 },
    { at: text(2), kind: "ended" },
  ]);
  const waiting = waitingEntry(running, runEnd(2, 503), at(12));
  expect(kindsOf(timelineOf([waiting, cancelledEntry(waiting, at(5))])).slice(-3)).toEqual([
    "retry 1",
    "cancelled",
    "ended",
  ]);
});

test("a call that was cancelled in the millisecond in which its last run ended was not cancelled in that run", () => {
  const waiting = waitingEntry(claim(silent, 1, "node-1:10"), runEnd(2, 503), at(12));
  expect(timelineOf([waiting, cancelledEntry(waiting, at(2))]).slice(-2)).toEqual([
    { at: text(2), kind: "cancelled" },
    { at: text(2), kind: "ended" },
  ]);
});

test("a call that was rejected has no dead letter", () => {
  const end = runEnd(2, 400);
  const rejected = endedEntry(claim(silent, 1, "node-1:10"), {
    state: "failed",
    reason: "rejected",
    end,
    result: null,
  });
  const last = { at: text(2), kind: "ended", status: 400, reason: "rejected" };
  expect(timelineOf([{ ...rejected, pending: [] }]).at(-1)).toEqual(last);
});

test("a call that failed in its first run says with what error", () => {
  const first = failed(claim(silent, 1, "node-1:10"), 2, "the body broke off");
  const ended = { at: text(2), kind: "ended", status: 503, reason: "exhausted: the body broke off" };
  expect(timelineOf([first]).at(-2)).toEqual(ended);
});

test("a call that was given up: by its last retry, by lost runs, by age", () => {
  const waiting = waitingEntry(claim(silent, 1, "node-1:10"), runEnd(2, 503), at(12));
  const running = claim(waiting, 12, "node-1:10");
  const exhausted = endedEntry(running, {
    state: "failed",
    reason: "exhausted",
    end: runEnd(13, 504, "the time limit was reached"),
    result: null,
  });
  const ended = { at: text(13), kind: "ended", status: 504, reason: "exhausted: the time limit was reached" };
  expect(timelineOf([exhausted]).slice(-2)).toMatchObject([{ kind: "started", attempt: 2 }, ended]);
  expect(timelineOf([exhausted, { ...exhausted, pending: [] }]).slice(-2)).toEqual([
    ended,
    { at: text(13), kind: "deadLetter", reason: "exhausted" },
  ]);

  const given = { status: 502, duration: 0, error: givenUpRun.crash, now: at(80) };
  const crashed = endedEntry(running, { state: "failed", reason: "crash", end: given, result: null });
  expect(timelineOf([{ ...crashed, pending: [] }]).slice(-3)).toEqual([
    { at: text(80), kind: "lost", attempt: 2, worker: "node-1:10", reason: "the queue-worker was lost" },
    { at: text(80), kind: "ended", status: 502, reason: "crash" },
    { at: text(80), kind: "deadLetter", reason: "crash" },
  ]);

  const late = { status: 504, duration: 0, error: givenUpRun.expired, now: at(90) };
  const expired = endedEntry(waiting, { state: "failed", reason: "expired", end: late, result: null });
  expect(timelineOf([{ ...expired, pending: [] }]).slice(-4)).toMatchObject([
    { kind: "retry", attempt: 1, next: text(12) },
    { at: text(90), kind: "expired" },
    { at: text(90), kind: "ended", status: 504, reason: "expired" },
    { kind: "deadLetter", reason: "expired" },
  ]);
});

test("a waiting call that cannot be read any more: its last run was to be repeated", () => {
  const waiting = waitingEntry(claim(silent, 1, "node-1:10"), runEnd(2, 503), at(12));
  const end = { now: at(12), status: 502, duration: 0, error: "it has no method" };
  const unreadable = endedEntry(waiting, { state: "failed", reason: "undecodable", end, result: null });
  expect(kindsOf(timelineOf([{ ...unreadable, pending: [] }])).slice(-3)).toEqual(["retry 1", "ended", "deadLetter"]);
});

describe("a redriven call", () => {
  const first = failed(claim(silent, 1, "node-1:10"), 2);
  const again = redrivenEntry(first, 1, at(30));
  const second = done(claim(again, 31, "node-2:20"), 32);
  const steps = [
    "accepted",
    "taken 1",
    "started 1",
    "answered 1",
    "ended",
    "deadLetter",
    "redriven",
    "taken 2",
    "started 2",
    "answered 2",
    "ended",
  ];

  test("shows both of its ends", () => {
    const timeline = timelineOf([silent, first, again, second]);
    expect(kindsOf(timeline)).toEqual(steps);
    expect(timeline[4]).toEqual({ at: text(2), kind: "ended", status: 503, reason: "exhausted" });
    expect(timeline[6]).toEqual({ at: text(30), kind: "redriven" });
  });

  test("whose first end was not seen shows the runs that its record has", () => {
    expect(kindsOf(timelineOf([second]))).toEqual(steps.filter((_, index) => index !== 4 && index !== 5));
  });

  test("of an earlier release, whose records do not say when, was redriven at its next run", () => {
    const { redriven: _redriven, ...old } = redrivenEntry(first, 1, at(30));
    const timeline = timelineOf([silent, first, old, done(claim(old, 31, "node-2:20"), 32)]);
    expect(kindsOf(timeline)).toEqual(steps);
    expect(timeline[6]?.at).toBe(text(31));
  });

  test("whose record was gone and is created anew keeps what was before", () => {
    const anew: CallEntry = { ...again, attempts: [] };
    expect(kindsOf(timelineOf([silent, first, anew, done(claim(anew, 31, "node-2:20"), 32)]))).toEqual(steps);
  });
});

test("a callback that failed, was redriven and arrived", () => {
  const ended = done(claim(queued, 1, "node-1:10"), 2);
  const refused = calledBack(ended, 3, { kind: "failed", status: 410, error: "answered 410" });
  const again = callbackRedrivenEntry(refused, 1, at(30));
  const arrived = calledBack(again, 31, { kind: "sent", status: 204 });
  const timeline = timelineOf([queued, ended, refused, again, arrived]);
  expect(kindsOf(timeline).slice(3)).toEqual([
    "answered 1",
    "ended",
    "callbackTry 1",
    "callbackEnded",
    "deadLetter",
    "redriven",
    "callbackTry 1",
    "callbackEnded",
  ]);
  expect(timeline.slice(6, 9)).toEqual([
    { at: text(3.03), kind: "callbackEnded", status: 410, reason: "answered 410" },
    { at: text(3.03), kind: "deadLetter", reason: "callback" },
    { at: text(30), kind: "redriven" },
  ]);
  expect(kindsOf(timelineOf([arrived])).slice(4)).toEqual(["ended", "redriven", "callbackTry 1", "callbackEnded"]);
});

test("a pending callback says when it is tried next, and that no outcome came when its time is over", () => {
  const ended = done(claim(queued, 1, "node-1:10"), 2);
  const error = "answered 503 ".repeat(10);
  const pending = calledBack(ended, 3, { kind: "retry", delay: 500, status: 503, error });
  expect(timelineOf([pending]).at(-1)).toEqual({
    at: text(3),
    kind: "callbackTry",
    attempt: 1,
    status: 503,
    ms: 30,
    // The whole of it, which only the last one has.
    reason: error,
    next: text(3.53),
  });
  expect(timelineOf([pending], at(901)).at(-1)).toEqual({
    at: text(900),
    kind: "callbackEnded",
    reason: "no outcome was recorded",
  });
});

test("a pending callback is given up for lost a millisecond after its time, not before", () => {
  const ended = done(claim(queued, 1, "node-1:10"), 2);
  const pending = calledBack(ended, 3, { kind: "retry", delay: 500, status: 503, error: "answered 503" });
  expect(timelineOf([pending], at(900)).at(-1)?.kind).toBe("callbackTry");
  expect(timelineOf([pending], at(900) + 1).at(-1)?.kind).toBe("callbackEnded");
});

test("only the last of several tries has the error of the callback, and is followed by the next one", () => {
  const ended = done(claim(queued, 1, "node-1:10"), 2);
  const first = calledBack(ended, 3, { kind: "retry", delay: 500, status: 503, error: "answered 503" });
  const second = calledBack(first, 4, { kind: "retry", delay: 1_000, status: undefined, error: "ECONNREFUSED" });
  expect(timelineOf([second]).slice(-2)).toEqual([
    { at: text(3), kind: "callbackTry", attempt: 1, status: 503, ms: 30, reason: "answered 503" },
    { at: text(4), kind: "callbackTry", attempt: 2, ms: 30, reason: "ECONNREFUSED", next: text(5.03) },
  ]);
});

test.each([
  ["when it was tried first", at(3), text(3)],
  ["with the call, if that is not known", undefined, text(2)],
])("a callback of an earlier release, without its tries, ended %s", (_, first, moment) => {
  const ended = done(claim(queued, 1, "node-1:10"), 2);
  const sent = { url: "https://u.example/p", state: "sent", attempts: 3, status: 204 } as const;
  const callback = first === undefined ? sent : { ...sent, first };
  expect(timelineOf([{ ...ended, pending: [], callback }]).slice(-2)).toEqual([
    { at: text(2), kind: "ended", status: 200 },
    { at: moment, kind: "callbackEnded", status: 204 },
  ]);
});

test("all tries of a callback stay that were seen, though its record keeps eight", () => {
  let entry = done(claim(queued, 1, "node-1:10"), 2);
  const seen = [entry];
  for (let count = 1; count <= 12; count += 1) {
    entry = calledBack(entry, 2 + count, { kind: "retry", delay: 500, status: 503, error: "answered 503" });
    seen.push(entry);
  }
  const tries = timelineOf(seen).filter(({ kind }) => kind === "callbackTry");
  expect(tries.map(({ attempt }) => attempt)).toEqual(Array.from({ length: 12 }, (_, n) => n + 1));
});

test("a call whose record is gone ends when that expired", () => {
  const call = callOf([silent, claim(silent, 1, "node-1:10")]);
  const unknown: HistoryCall = { ...call, row: { ...call.row, state: "unknown" } };
  const expired = { kind: "expired", reason: "its record is gone" };
  expect(callTimeline(unknown, at(30 * 3_600)).at(-1)).toEqual({ at: text(24 * 3_600), ...expired });
  expect(callTimeline(unknown, at(50)).at(-1)).toEqual({ at: text(50), ...expired });
});

test("a synchronous call", () => {
  const sync = {
    id,
    namespace: "functions",
    name: "echo",
    method: "GET",
    status: 200,
    startedAt: zero,
    duration: 1_500,
    replica: "10.0.0.1:8080",
    coldStart: 1_000,
  };
  const call = callChangeRow(undefined, { kind: "sync", call: sync });
  expect(call).toBeTypeOf("object");
  expect(typeof call === "object" && callTimeline(call, at(2))).toEqual([
    { at: text(0), kind: "accepted" },
    { at: text(1), kind: "started", replica: "10.0.0.1:8080" },
    { at: text(1.5), kind: "answered", replica: "10.0.0.1:8080", status: 200, ms: 1_500 },
    { at: text(1.5), kind: "ended", status: 200 },
  ]);
});

test("a synchronous call whose replica is not known started at none", () => {
  const place = { namespace: "functions", name: "echo" };
  const sync = { ...place, id, method: "GET", status: 200, startedAt: zero, duration: 1_500 };
  const call = callChangeRow(undefined, { kind: "sync", call: sync });
  expect(typeof call === "object" && kindsOf(callTimeline(call, at(2)))).toEqual(["accepted", "answered", "ended"]);
});

test("a call of which neither record nor request is kept has no steps", () => {
  expect(callTimeline({ row: callOf([silent]).row, details: {} }, at(2))).toEqual([]);
});

test("a run that began before the acceptance, by another clock, began with it", () => {
  const running = claim(silent, -0.01, "node-1:10");
  expect(timelineOf([silent, running]).map(({ at: moment }) => moment)).toEqual([text(0), text(0)]);
});
