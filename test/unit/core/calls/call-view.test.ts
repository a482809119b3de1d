import { Value } from "typebox/value";
import { expect, test } from "vitest";

import { CallRecord } from "../../../../runtime/api/schemas/call-record.ts";
import type { CallEntry, CallbackState } from "../../../../runtime/core/calls/call-entry.ts";
import {
  cancelledEntry,
  endedEntry,
  handedBackEntry,
  claimedEntry,
  waitingEntry,
} from "../../../../runtime/core/calls/call-transitions.ts";
import { callView } from "../../../../runtime/core/calls/call-view.ts";
import { sampleEntry } from "../../../contract/samples.ts";

const id = "6b1f7f6e-40a5-4a0e-9a53-3ad9f7a7f0d1";
const now = Date.UTC(2026, 10, 21, 12, 0, 0);
const queued = sampleEntry({ expires: now + 3_600_000 });
const running = claimedEntry(queued, { owner: "me", takeover: false, now, maxRetries: 10 });
const end = { now: now + 1_500, status: 503, duration: 1_234.5678, error: "scaled-to-zero" };
const result = { run: 1, size: 3, stored: true, ttl: 60_000 };

const entries: Record<string, CallEntry> = {
  queued,
  "sent by alice": { ...queued, principal: { subject: "fed:alice", issuer: "https://issuer.example" } },
  "sent by the administrator": { ...queued, principal: { subject: "admin" } },
  running,
  waiting: waitingEntry(running, end, now + 9_000),
  "handed back": handedBackEntry(running, now),
  done: endedEntry(running, { state: "done", end: { ...end, status: 200, error: undefined }, result }),
  failed: endedEntry(running, { state: "failed", end, reason: "exhausted", result: null }),
  cancelled: cancelledEntry(running, now),
  "called back in vain": {
    ...endedEntry(running, { state: "done", end, result }),
    callback: {
      url: "https://u.example/p",
      state: "pending",
      attempts: 1,
      error: "refused",
      next: now + 500,
      first: now,
    },
  },
  "run at a replica": endedEntry(
    claimedEntry(queued, { owner: "me", takeover: false, now, maxRetries: 10, worker: "node-1:4711" }),
    { state: "done", end: { ...end, replica: "10.0.0.1:8080", coldStart: 1_400 }, result: null },
  ),
  "called back at the second attempt": {
    ...endedEntry(running, { state: "done", end, result }),
    callback: {
      url: "https://u.example/p",
      state: "sent",
      attempts: 2,
      status: 204,
      first: now,
      tries: [
        { number: 1, at: now, ms: 30, error: "refused" },
        { number: 2, at: now + 500, ms: 12, status: 204 },
      ],
    },
  },
  "a replay": { ...queued, replayOf: "7b1f7f6e-40a5-4a0e-9a53-3ad9f7a7f0d1", source: "replay" },
  "called back": {
    ...endedEntry(running, { state: "done", end, result }),
    callback: { url: "https://u.example/p?secret=1#f", state: "sent", attempts: 2, status: 204, first: now },
  },
};

test.each(Object.entries(entries))("%s: a CallRecord of the contract, and nothing else", (_name, entry) => {
  const view: unknown = JSON.parse(JSON.stringify(callView(id, entry, now)));
  expect([...Value.Errors(CallRecord, view)]).toEqual([]);
  expect(Value.Clean(CallRecord, structuredClone(view))).toEqual(view);
  expect(view).toMatchObject({
    callId: id,
    state: entry.state,
    functionName: "echo",
    namespace: "functions",
    queue: "default",
  });
  expect(view).not.toHaveProperty("owner");
});

test("who sent a call is shown as it is kept, and otherwise not at all", () => {
  const principal = { subject: "fed:alice", issuer: "https://issuer.example" };
  expect(callView(id, { ...queued, principal }, now).principal).toEqual(principal);
  expect(callView(id, queued, now)).not.toHaveProperty("principal");
});

test("times are RFC 3339, the start is in nanoseconds, durations are in seconds", () => {
  const view = callView(id, entries["waiting"] ?? queued, now, 4);
  expect(view.startTime).toBe(queued.accepted);
  expect(view.acceptedAt).toBe(new Date(Number(BigInt(queued.accepted) / 1_000_000n)).toISOString());
  expect(view.nextAttemptAt).toBe("2026-11-21T12:00:09.000Z");
  expect(view.queuePosition).toBe(4);
  expect(view.retries).toBe(1);
  expect(view.attempts).toEqual([
    {
      number: 1,
      startedAt: "2026-11-21T12:00:00.000Z",
      endedAt: "2026-11-21T12:00:01.500Z",
      status: 503,
      durationSeconds: 1.234568,
      error: "scaled-to-zero",
    },
  ]);
});

test("a run says who claimed it, where it ran and how long it waited for that", () => {
  expect(callView(id, entries["run at a replica"] ?? queued, now).attempts).toMatchObject([
    { worker: "node-1:4711", replica: "10.0.0.1:8080", coldStartSeconds: 1.4 },
  ]);
});

test("the tries of a callback are shown", () => {
  expect(callView(id, entries["called back at the second attempt"] ?? queued, now).callback?.tries).toStrictEqual([
    { number: 1, at: "2026-11-21T12:00:00.000Z", durationSeconds: 0.03, error: "refused" },
    { number: 2, at: "2026-11-21T12:00:00.500Z", durationSeconds: 0.012, status: 204 },
  ]);
});

test("a result has its location and expiry; a record that expires earlier limits it", () => {
  expect(callView(id, entries["done"] ?? queued, now).result).toEqual({
    href: `/async-function/${id}/result`,
    status: 200,
    size: 3,
    stored: true,
    expiresAt: "2026-11-21T12:01:01.500Z",
  });
  expect(callView(id, { ...(entries["done"] ?? queued), expires: now + 2_000 }, now).result?.expiresAt).toBe(
    "2026-11-21T12:00:02.000Z",
  );
  expect(callView(id, entries["failed"] ?? queued, now)).not.toHaveProperty("result");
});

test("the callback's address is shown without its query", () => {
  expect(callView(id, entries["called back"] ?? queued, now).callback).toEqual({
    url: "https://u.example/p",
    state: "sent",
    attempts: 2,
    status: 204,
  });
  expect(callView(id, entries["cancelled"] ?? queued, now)).not.toHaveProperty("callback");
});

test("a failing callback shows its error, and while it is pending the time of the next attempt", () => {
  const callback = {
    url: "https://u.example/p",
    attempts: 2,
    status: 503,
    error: "answered 503",
    next: now + 500,
  } as const;
  const shown = (more: Pick<CallbackState, "state" | "until">, at = now) =>
    callView(id, { ...(entries["done"] ?? queued), callback: { ...callback, ...more } }, at).callback;
  expect(shown({ state: "pending" })).toEqual({
    url: "https://u.example/p",
    state: "pending",
    attempts: 2,
    status: 503,
    error: "answered 503",
    nextAttemptAt: "2026-11-21T12:00:00.500Z",
  });
  const unknown = shown({ state: "pending", until: now }, now + 1);
  expect(unknown).toMatchObject({ state: "unknown", error: "answered 503" });
  expect(unknown).not.toHaveProperty("nextAttemptAt");
});

test("a callback that is still pending after its time is unknown, and pending until then", () => {
  const called = entries["called back"] ?? queued;
  const callback = { url: "https://u.example/p", attempts: 0, until: now } as const;
  const stateAt = (at: number, state: "pending" | "sent" | "failed") =>
    callView(id, { ...called, callback: { ...callback, state } }, at).callback?.state;
  expect(stateAt(now, "pending")).toBe("pending");
  expect(stateAt(now + 1, "pending")).toBe("unknown");
  expect(stateAt(now + 1, "sent")).toBe("sent");
  expect(stateAt(now + 1, "failed")).toBe("failed");
  expect(callView(id, queued, now + 9e9).callback?.state).toBe("pending");
});

const always = "callId functionName namespace queue state acceptedAt startTime retries maxRetries attempts".split(" ");

test.each([
  ["queued", ["callback"]],
  ["running", ["callback"]],
  ["waiting", ["callback", "nextAttemptAt"]],
  ["done", ["callback", "endedAt", "result"]],
  ["failed", ["callback", "endedAt", "reason"]],
  ["cancelled", ["endedAt"]],
])("%s: unknown fields are absent", (state, more) => {
  expect(Object.keys(callView(id, entries[state] ?? queued, now)).sort()).toEqual([...always, ...more].sort());
});

test("a failed call says why and when it ended", () => {
  const failed = callView(id, entries["failed"] ?? queued, now);
  expect(failed).toMatchObject({ reason: "exhausted", endedAt: "2026-11-21T12:00:01.500Z" });
});

test("unknown fields of a run are absent, and so are those of a callback", () => {
  const [attempt] = callView(id, entries["running"] ?? queued, now).attempts;
  expect(Object.keys(attempt ?? {})).toEqual(["number", "startedAt"]);
  const [ended] = callView(id, entries["done"] ?? queued, now).attempts;
  expect(Object.keys(ended ?? {})).not.toContain("error");
  expect(Object.keys(callView(id, queued, now).callback ?? {})).toEqual(["url", "state", "attempts"]);
});

test("there is no result before the call is over", () => {
  const done = entries["done"] ?? queued;
  expect(callView(id, { ...done, status: null }, now)).not.toHaveProperty("result");
  expect(callView(id, { ...done, ended: null }, now)).not.toHaveProperty("result");
});

test("a replay says which call it repeats, and no other call does", () => {
  expect(callView(id, entries["a replay"] ?? queued, now).replayOf).toBe("7b1f7f6e-40a5-4a0e-9a53-3ad9f7a7f0d1");
  expect(callView(id, queued, now)).not.toHaveProperty("replayOf");
});
