import { describe, expect, test } from "vitest";

import type { CallAttempt } from "../../../../../runtime/core/calls/call-entry.ts";
import { asyncCallRow, syncCallRow } from "../../../../../runtime/core/history/call-row.ts";
import type { AnsweredCall, CallRow, HistoryCall } from "../../../../../runtime/core/history/history-row.ts";
import {
  callRuns,
  mayHaveRunAt,
  mayOverlap,
  runsEndedWithin,
} from "../../../../../runtime/core/history/logs/call-windows.ts";
import { historyEntry, historyId, historyStart } from "../../../../support/history-calls.ts";

const now = 900_000;

/** A queued call with these runs, times from 0. */
function queuedCall(attempts: readonly CallAttempt[], over: Partial<CallRow> = {}): HistoryCall {
  const entry = historyEntry(1, { attempts, run: attempts.length, ended: null });
  return { row: { ...asyncCallRow(historyId(1), 1, entry), ...over }, details: { entry } };
}

function answeredCall(over: Partial<AnsweredCall> = {}): HistoryCall {
  const place = { namespace: "functions", name: "hello", replica: "hello-1" };
  const sync = { ...place, id: historyId(2), method: "GET", status: 200, startedAt: 1_000.4, duration: 20.5, ...over };
  return { row: syncCallRow(sync), details: { sync } };
}

const noRecord: HistoryCall = { row: queuedCall([]).row, details: {} };

describe("the runs of a call", () => {
  test("a synchronous call has one, whose window takes in its last millisecond", () => {
    const run = { number: 1, window: { from: 1_000, to: 1_022 }, replica: "hello-1", hasFailed: false };
    expect(callRuns(answeredCall(), now)).toEqual([run]);
  });

  test("a queued call has one for each attempt", () => {
    const attempts = [
      { number: 1, startedAt: 100, endedAt: 200, status: 503, replica: "a" },
      { number: 2, startedAt: 300.7, endedAt: 400.2, status: 200, replica: "10.0.0.1:8080" },
    ];
    expect(callRuns(queuedCall(attempts), now)).toEqual([
      { number: 1, window: { from: 100, to: 201 }, replica: "a", hasFailed: true },
      { number: 2, window: { from: 300, to: 402 }, replica: undefined, hasFailed: false },
    ]);
  });

  test("a call without a record has none", () => {
    expect(callRuns(noRecord, now)).toEqual([]);
    expect(runsEndedWithin(noRecord, { from: 0, to: now })).toBe(0);
  });

  test("one whose end was not seen ends when the next begins, or the call ended, or now", () => {
    const attempts = [
      { number: 1, startedAt: 100 },
      { number: 2, startedAt: 300 },
    ];
    const ends = (call: HistoryCall): number[] => callRuns(call, now).map(({ window }) => window.to - 1);
    expect(ends(queuedCall(attempts, { ended: 500 }))).toEqual([300, 500]);
    expect(ends(queuedCall(attempts))).toEqual([300, now]);
  });

  test("one that began by a clock ahead of ours has a window of a millisecond", () => {
    const [run] = callRuns(queuedCall([{ number: 1, startedAt: now + 50 }]), now);
    expect(run?.window).toEqual({ from: now + 50, to: now + 51 });
  });

  test.each<[string, Partial<CallAttempt>, boolean]>([
    ["was answered with 200", { endedAt: 200, status: 200 }, false],
    ["was answered with 399", { endedAt: 200, status: 399 }, false],
    ["was answered with 400", { endedAt: 200, status: 400 }, true],
    ["was answered with 500", { endedAt: 200, status: 500 }, true],
    ["ended without an answer", { endedAt: 200 }, true],
    ["ended with an error after the status", { endedAt: 200, status: 200, error: "body broke off" }, true],
    ["has not ended", {}, false],
    ["has not ended, with the status of its begin", { status: 500 }, false],
    ["has not ended, with an error", { error: "reading the body" }, false],
  ])("one that %s", (_, over, hasFailed) => {
    expect(callRuns(queuedCall([{ number: 1, startedAt: 100, ...over }]), now)[0]?.hasFailed).toBe(hasFailed);
  });

  test.each([
    [200, false],
    [399, false],
    [400, true],
    [502, true],
  ])("a synchronous call with status %i has failed: %s", (status, hasFailed) => {
    expect(callRuns(answeredCall({ status }), now)[0]?.hasFailed).toBe(hasFailed);
  });
});

test.each([
  ["within", { from: 150, to: 500 }, 2],
  ["from its first millisecond on", { from: 200, to: 201 }, 1],
  ["before its end, which is not part of it", { from: 100, to: 200 }, 0],
  ["after", { from: 401, to: now }, 0],
])("runs that ended %s the time are counted", (_, window, count) => {
  const ended = queuedCall([
    { number: 1, startedAt: 100, endedAt: 200 },
    { number: 2, startedAt: 300, endedAt: 400 },
    { number: 3, startedAt: 450 },
  ]);
  expect(runsEndedWithin(ended, window)).toBe(count);
});

test("a synchronous call ended one run, at its end", () => {
  const call = answeredCall({ startedAt: 1_000, duration: 50 });
  expect(runsEndedWithin(call, { from: 1_050, to: 1_051 })).toBe(1);
  expect(runsEndedWithin(call, { from: 900, to: 1_050 })).toBe(0);
});

describe("whether a call may have run within a window of 1 000 to 2 000", () => {
  const window = { from: 1_000, to: 2_000 };
  const open = { ...queuedCall([]).row, accepted: 1_500, state: "queued" } as const;
  const running = { ...open, state: "running", wait: 100 } as const;
  const done = { ...open, state: "done", accepted: 0, wait: 100 } as const;
  const sync = { ...open, kind: "sync", state: "done" } as const;

  test.each<[string, CallRow, boolean]>([
    ["waits in its queue for its first run", open, false],
    ["waits in its queue for another run", { ...open, wait: 100 }, true],
    ["began before its end", { ...running, accepted: 1_899 }, true],
    ["began at its end", { ...running, accepted: 1_900 }, false],
    ["was accepted within, but ran later", { ...running, wait: 600 }, false],
    ["runs since long ago", { ...running, accepted: 0 }, true],
    ["ended at its begin", { ...done, ended: 1_000 }, true],
    ["ended before its begin", { ...done, ended: 999 }, false],
    ["ended without a run", { ...open, state: "cancelled", ended: 1_700 }, true],
    ["was lost sight of before its first run", { ...open, state: "unknown" }, true],
    ["expired in its queue", { ...open, ended: 1_700 }, true],
  ])("a queued call that %s", (_, row, may) => expect(mayOverlap(row, window)).toBe(may));

  test.each<[string, CallRow, boolean]>([
    ["was accepted before its end, however long its replica started", { ...sync, wait: 5_000, ended: 9_000 }, true],
    ["was accepted at its end", { ...sync, accepted: 2_000, ended: 9_000 }, false],
    ["has neither waited nor ended", { ...sync, state: "queued" }, true],
  ])("a synchronous call that %s", (_, row, may) => expect(mayOverlap(row, window)).toBe(may));
});

describe("whether a call may have run at a replica", () => {
  const call = queuedCall([
    { number: 1, startedAt: 100, endedAt: 199, replica: "a" },
    { number: 2, startedAt: 300, endedAt: 399, replica: "b" },
    { number: 3, startedAt: 500, endedAt: 599 },
  ]);

  test.each([
    ["at another replica meanwhile", "b", { from: 100, to: 150 }, false],
    ["there meanwhile", "a", { from: 100, to: 150 }, true],
    ["meanwhile, where any replica counts", undefined, { from: 300, to: 350 }, true],
    ["nowhere meanwhile", undefined, { from: 210, to: 290 }, false],
    ["at an unknown place meanwhile", "c", { from: 550, to: 560 }, true],
    ["until the window begins", "a", { from: 200, to: 250 }, false],
    ["to the last millisecond before it", "a", { from: 199, to: 250 }, true],
    ["from the end of the window on", "b", { from: 250, to: 300 }, false],
    ["from the last millisecond of it", "b", { from: 250, to: 301 }, true],
  ])("it ran %s", (_, replica, window, may) => expect(mayHaveRunAt(call, replica, window, now)).toBe(may));

  test("a synchronous call has all of its runs kept", () => {
    const sync = answeredCall({ startedAt: 100, duration: 50 });
    expect(mayHaveRunAt(sync, "hello-1", { from: 100, to: 150 }, now)).toBe(true);
    expect(mayHaveRunAt(sync, "hello-2", { from: 100, to: 150 }, now)).toBe(false);
    expect(mayHaveRunAt(sync, "hello-1", { from: 200, to: historyStart }, now)).toBe(false);
  });
});
