import { Value } from "typebox/value";
import { describe, expect, test } from "vitest";

import { CallDetail } from "../../../../runtime/api/schemas/history/call-detail.ts";
import { CallPageView } from "../../../../runtime/api/schemas/history/call-page.ts";
import type { CallEntry } from "../../../../runtime/core/calls/call-entry.ts";
import {
  cancelledEntry,
  claimedEntry,
  endedEntry,
  redrivenEntry,
  waitingEntry,
} from "../../../../runtime/core/calls/call-transitions.ts";
import { callActions } from "../../../../runtime/core/history/call-actions.ts";
import { callChangeRow } from "../../../../runtime/core/history/call-change-row.ts";
import { callDetail, type DetailFacts } from "../../../../runtime/core/history/call-detail.ts";
import { callPageView } from "../../../../runtime/core/history/call-page-view.ts";
import { listCursor } from "../../../../runtime/core/history/list-cursor.ts";
import type { HistoryCall, AnsweredCall } from "../../../../runtime/core/history/history-row.ts";
import type { CallChange } from "../../../../runtime/core/ports/call-history.ts";
import { sampleCall, sampleEntry } from "../../../contract/samples.ts";

const id = "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10";
const other = "6b1f7f6e-40a5-4a0e-9a53-3ad9f7a7f0d1";
const now = Date.UTC(2026, 0, 31, 12, 0, 0);
const day = 86_400_000;
const queued = sampleEntry({ expires: now + day }, sampleCall({ id, start: BigInt(now) * 1_000_000n }));
const running = claimedEntry(queued, { owner: "me", takeover: false, now, maxRetries: 10, worker: "node-1:10" });
const end = { now: now + 40, status: 503, duration: 12, error: undefined, replica: "10.0.0.1:8080", coldStart: 8 };
const exhausted: CallEntry = {
  ...endedEntry(running, { state: "failed", reason: "exhausted", end, result: null }),
  pending: [],
};
const done = endedEntry(running, {
  state: "done",
  end: { ...end, status: 200 },
  result: { run: 1, size: 3, stored: true, ttl: 60_000 },
});
const sync: AnsweredCall = {
  id,
  namespace: "functions",
  name: "echo",
  method: "GET",
  status: 200,
  startedAt: now,
  duration: 12.5,
  replica: "10.0.0.1:8080",
  coldStart: 4,
};

function callOf(...changes: readonly CallChange[]): HistoryCall {
  let call: HistoryCall | undefined;
  for (const change of changes) {
    const after = callChangeRow(call, change);
    if (after !== "unchanged") call = after;
  }
  return call ?? expect.fail("there is no call");
}
const recorded = (...entries: readonly CallEntry[]): HistoryCall =>
  callOf(...entries.map((entry, index) => ({ kind: "entry", id, revision: index + 1, entry }) as const));
const unknown = (call: HistoryCall): HistoryCall => ({ ...call, row: { ...call.row, state: "unknown" } });

const facts: DetailFacts = {
  now: now + 100,
  replays: [other],
  request: { kept: false },
  logs: { kept: true, lines: 2 },
  tails: new Map([[1, { lines: ["Error: no such order"], match: "window" }]]),
  history: { lagSeconds: 0.2, complete: true, gaps: [{ from: now, to: now + 1_000 }] },
};

test.each<[string, HistoryCall]>([
  ["queued", recorded(queued)],
  ["waiting", recorded(waitingEntry(running, end, now + 500))],
  ["done", recorded(done)],
  ["redriven", recorded(exhausted, redrivenEntry(exhausted, 1, now + 60))],
  ["a replay", recorded({ ...queued, replayOf: other, source: "replay" })],
  ["unknown", unknown(recorded(running))],
  ["synchronous", callOf({ kind: "sync", call: sync })],
])("%s: a CallDetail of the contract, and nothing else", (_name, call) => {
  const view: unknown = JSON.parse(JSON.stringify(callDetail(call, facts)));
  expect([...Value.Errors(CallDetail, view)]).toEqual([]);
  expect(Value.Clean(CallDetail, structuredClone(view))).toEqual(view);
});

test("the detail of a queued call is its record and what the history adds", () => {
  const detail = callDetail(recorded(exhausted, redrivenEntry(exhausted, 1, now + 60)), { ...facts, queuePosition: 3 });
  expect(detail).toMatchObject({
    callId: id,
    kind: "async",
    functionName: "echo",
    namespace: "functions",
    queue: "default",
    state: "queued",
    source: "http",
    acceptedAt: "2026-01-31T12:00:00.000Z",
    queuePosition: 3,
    redrives: 1,
    replays: [other],
    attempts: [
      {
        number: 1,
        worker: "node-1:10",
        replica: "10.0.0.1:8080",
        coldStartSeconds: 0.008,
        stderrTail: { lines: ["Error: no such order"], match: "window" },
      },
    ],
    callback: { url: "https://example.com/done", state: "pending" },
    logs: { kept: true, lines: 2 },
    history: {
      lagSeconds: 0.2,
      complete: true,
      gaps: [{ from: "2026-01-31T12:00:00.000Z", to: "2026-01-31T12:00:01.000Z" }],
    },
  });
  expect(detail.timeline.at(-1)).toEqual({ at: "2026-01-31T12:00:00.060Z", kind: "redriven" });
});

test("an unknown call is due no more", () => {
  const call = recorded(waitingEntry(running, end, now + 500));
  expect(callDetail(call, facts).nextAttemptAt).toBe("2026-01-31T12:00:00.500Z");
  const gone = callDetail(unknown(call), facts);
  expect(gone.state).toBe("unknown");
  expect(gone).not.toHaveProperty("nextAttemptAt");
});

describe("a synchronous call", () => {
  const detailOf = (call: AnsweredCall) => callDetail(callOf({ kind: "sync", call }), { ...facts, tails: new Map() });
  const times = { startedAt: "2026-01-31T12:00:00.000Z", endedAt: "2026-01-31T12:00:00.012Z", durationSeconds: 0.0125 };

  test("is one attempt, with where it ran and how long that took to start", () => {
    expect(detailOf(sync)).toMatchObject({
      startTime: `${now}000000`,
      maxRetries: 0,
      redrives: 0,
      attempts: [{ number: 1, ...times, status: 200, replica: "10.0.0.1:8080", coldStartSeconds: 0.004 }],
    });
  });

  test("whose replica is not known, and was ready, does not name either", () => {
    const { replica: _replica, coldStart: _coldStart, ...bare } = sync;
    expect(detailOf(bare).attempts).toStrictEqual([{ number: 1, ...times, status: 200 }]);
  });
});

test("an attempt of which nothing was written to standard error has no tail", () => {
  const attempts = callDetail(recorded(done), { ...facts, tails: new Map() }).attempts;
  expect(attempts.map((attempt) => "stderrTail" in attempt)).toEqual([false]);
});

test.each<[string, DetailFacts["request"], object, string | true]>([
  ["was kept", { kept: true }, { kept: true }, true],
  ["was not kept", { kept: false }, { kept: false }, expect.stringContaining("its request was not kept")],
  ["is not known", undefined, { kept: false }, expect.stringContaining("the broker does not say whether")],
])("a call whose request %s can be replayed, or says why not", (_, request, shown, replay) => {
  const detail = callDetail(recorded(done), { ...facts, request });
  expect(detail.request).toEqual(shown);
  expect(detail.actions.replay).toEqual(replay);
});

test("a queued call without its record is an error of the history, which names it", () => {
  const { row } = recorded(done);
  expect(() => callDetail({ row, details: {} }, facts)).toThrow(`call "${id}" has neither a record nor a request`);
});

describe("callActions", () => {
  const actions = (call: HistoryCall, requestKept = false, at = now + 100) =>
    callActions(call, { now: at, requestKept });
  const cannot = (what: string, why: string): string => `Cannot ${what} call "${id}": ${why}`;

  test("of an open call: it can be cancelled", () => {
    for (const [entry, state] of [
      [queued, "queued"],
      [running, "running"],
      [waitingEntry(running, end, now + 500), "waiting"],
    ] as const) {
      expect(actions(recorded(entry), true)).toEqual({
        cancel: true,
        redrive: cannot("redrive", `it is ${state}`),
        replay: cannot("replay", `it is ${state}`),
      });
    }
  });

  test("of a done call: it can be replayed if its request was kept", () => {
    const call = recorded(done);
    expect(actions(call, true)).toEqual({
      cancel: cannot("cancel", "it is done"),
      redrive: cannot("redrive", "it is done and has no dead letter"),
      replay: true,
    });
    expect(callActions(call, { now, requestKept: undefined }).replay).toBe(
      cannot("replay", "the broker does not say whether its request was kept"),
    );
    expect(actions(call).replay).toBe(
      cannot(
        "replay",
        'its request was not kept; set annotation com.service.history.bodies on function "echo.functions", or send the call again',
      ),
    );
  });

  test("of a call that was given up, or whose callback was: it can be redriven while there is a dead letter", () => {
    const call = recorded(exhausted);
    expect(actions(call)).toMatchObject({ cancel: cannot("cancel", "it is failed"), redrive: true });
    const ended = exhausted.ended ?? expect.fail("it has not ended");
    expect(actions(call, false, ended + 14 * day).redrive).toBe(true);
    expect(actions(call, false, ended + 14 * day + 1).redrive).toBe(
      cannot("redrive", "its dead letter was removed after 14 days"),
    );
    const undecodable: CallEntry = { ...exhausted, reason: "undecodable" };
    expect(actions(recorded(undecodable)).redrive).toBe(
      cannot("redrive", "it cannot be read; its dead letter can only be deleted"),
    );
    const refused: CallEntry = {
      ...done,
      pending: [],
      callback: {
        url: "https://u.example/p",
        state: "failed",
        attempts: 1,
        tries: [{ number: 1, at: now + 2 * day, ms: 3 }],
      },
    };
    expect(actions(recorded(refused)).redrive).toBe(true);
    expect(actions(recorded(refused), false, now + 15 * day).redrive).toBe(true);
    expect(actions(recorded(refused), false, now + 17 * day).redrive).not.toBe(true);
    // Earlier releases kept no tries: the letter is no older than the end of the call.
    for (const tries of [undefined, []]) {
      const callback = { url: "https://u.example/p", state: "failed", attempts: 1, ...(tries && { tries }) } as const;
      const old = recorded({ ...refused, callback });
      expect(actions(old, false, ended + 14 * day).redrive).toBe(true);
      expect(actions(old, false, ended + 14 * day + 1).redrive).not.toBe(true);
    }
  });

  test("of a cancelled, an unknown, and a synchronous call", () => {
    expect(actions(recorded(cancelledEntry(running, now + 5)))).toMatchObject({
      cancel: cannot("cancel", "it is cancelled"),
      redrive: cannot("redrive", "it is cancelled and has no dead letter"),
    });
    expect(actions(unknown(recorded(running)), true)).toEqual({
      cancel: cannot("cancel", "its record is gone"),
      redrive: cannot("redrive", "its record is gone"),
      replay: true,
    });
    expect(actions(callOf({ kind: "sync", call: sync }))).toEqual({
      cancel: cannot("cancel", "it was answered at once"),
      redrive: cannot("redrive", "it was answered at once"),
      replay: cannot("replay", "it was answered at once, and requests of such calls are not kept"),
    });
  });
});

test("a page has its calls in short, and where the next one begins", () => {
  const rows = [recorded(done).row, callOf({ kind: "sync", call: { ...sync, id: other } }).row, recorded(queued).row];
  const place = { accepted: now, id };
  const page = { rows, next: place, total: { value: 7, exact: false } };
  const view = callPageView(page, { state: "done" }, facts.history);
  expect([...Value.Errors(CallPageView, view)]).toEqual([]);
  expect(Value.Clean(CallPageView, structuredClone(view))).toEqual(view);
  expect(view.next).toBe(listCursor({ state: "done" }, place));
  expect(view.items).toMatchObject([
    { callId: id, status: 200, waitSeconds: 0, durationSeconds: 0.012, coldStartSeconds: 0.008, queue: "default" },
    { callId: other, kind: "sync", durationSeconds: 0.0125, state: "done" },
    { callId: id, state: "queued" },
  ]);
  expect(view.items[1]).not.toHaveProperty("queue");
  for (const name of ["status", "endedAt", "waitSeconds"]) expect(view.items[2]).not.toHaveProperty(name);
  expect(callPageView({ rows: [], total: { value: 0, exact: true } }, {}, facts.history)).not.toHaveProperty("next");
});
