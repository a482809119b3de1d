import { describe, expect, test } from "vitest";

import type { CallRecord } from "../../../../runtime/api/schemas/call-record.ts";
import { callText } from "../../../../runtime/cli/commands/calls/call-text.ts";
import { offsetText } from "../../../../runtime/cli/commands/calls/call-events.ts";
import { recordEvents } from "../../../../runtime/cli/commands/calls/record-events.ts";

const at = (seconds: number): string =>
  new Date(Date.parse("2026-01-31T12:00:00.000Z") + seconds * 1_000).toISOString();
const queued: CallRecord = {
  callId: "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10",
  functionName: "hello",
  namespace: "functions",
  queue: "default",
  state: "queued",
  acceptedAt: at(0),
  startTime: "1769860800000000000",
  retries: 0,
  maxRetries: 10,
  attempts: [],
};
const run = (number: number, more: Partial<CallRecord["attempts"][number]> = {}): CallRecord["attempts"][number] => ({
  number,
  startedAt: at(number),
  ...more,
});
const ended = (number: number, status: number) =>
  run(number, { endedAt: at(number + 0.5), status, durationSeconds: 0.5 });
const events = (record: CallRecord) => recordEvents(record).map(({ event, detail }) => `${event}: ${detail}`);

describe("the timeline of a call", () => {
  test("of a queued one has its acceptance", () => {
    expect(recordEvents(queued)).toEqual([{ at: at(0), event: "accepted", detail: 'queue "default"' }]);
  });

  test("of a running one has a run without an end", () => {
    expect(events({ ...queued, state: "running", attempts: [run(1)] })).toEqual([
      'accepted: queue "default"',
      "run 1: runs",
    ]);
  });

  test("has a run whose worker was lost: nobody knows its end", () => {
    const record: CallRecord = { ...queued, state: "queued", attempts: [run(1)] };
    expect(events(record)).toContain("run 1: its end is not known");
  });

  test("of a waiting one says when the next run is due", () => {
    const record: CallRecord = { ...queued, state: "waiting", attempts: [ended(1, 500)], nextAttemptAt: at(9) };
    expect(recordEvents(record).slice(1)).toEqual([
      { at: at(1), event: "run 1", detail: "status 500 after 0.500s" },
      { at: at(9), event: "run 2", detail: "is due" },
    ]);
  });

  test("of a failed one has the errors of its runs and the reason", () => {
    const record: CallRecord = {
      ...queued,
      state: "failed",
      reason: "exhausted",
      attempts: [run(1, { endedAt: at(2), error: "connect ECONNREFUSED" }), ended(2, 503)],
      endedAt: at(3),
    };
    expect(events(record)).toEqual([
      'accepted: queue "default"',
      "run 1: connect ECONNREFUSED",
      "run 2: status 503 after 0.500s",
      "failed: exhausted",
    ]);
  });

  test("says how many runs a record no longer lists", () => {
    expect(events({ ...queued, state: "done", attempts: [ended(4, 200)], endedAt: at(5) })).toEqual([
      'accepted: queue "default"',
      "…: 3 earlier runs are no longer listed",
      "run 4: status 200 after 0.500s",
      "done: ",
    ]);
  });
});

test.each([
  [at(0), "+0.000s"],
  [at(0.02), "+0.020s"],
  [at(59.999), "+59.999s"],
  [at(80.2), "+1m20s"],
  [at(-0.004), "-0.004s"],
  [undefined, ""],
  ["soon", ""],
])("%s is %j after the start", (time, text) => {
  expect(offsetText(at(0), time)).toBe(text);
});

describe("the text of a call", () => {
  test("has its facts in lines of their own, then the timeline", () => {
    const [facts = "", timeline = ""] = callText({ ...queued, queuePosition: 3 }).split("\n\n");
    expect(facts.split("\n")).toEqual([
      "call      7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10",
      "function  hello.functions",
      "queue     default",
      "state     queued, about number 3 of its queue",
      "retries   0 of 10",
    ]);
    expect(timeline).toMatch(
      /^TIME +AFTER +EVENT +DETAIL\n\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +\+0\.000s +accepted +queue "default"\n$/,
    );
  });

  test("has result and callback if there are", () => {
    const text = callText({
      ...queued,
      state: "done",
      endedAt: at(2),
      attempts: [ended(1, 200)],
      result: { href: "/async-function/x/result", status: 200, size: 5, stored: true, expiresAt: at(3_600) },
      callback: {
        url: "https://example.com/done",
        state: "pending",
        attempts: 2,
        status: 503,
        error: "answered 503",
        nextAttemptAt: at(9),
      },
    });
    expect(text).toMatch(/^result +status 200, 5 bytes, kept until \d{4}-/m);
    expect(text).toMatch(
      /^callback +https:\/\/example\.com\/done \(pending, sent 2 times, last status 503, answered 503, next at \d{4}-/m,
    );
  });

  test("shows escapes of a hostile gateway as text", () => {
    const text = callText({ ...queued, queue: "a\u001b[2Jb", state: "failed", reason: "x\ny\u202e", endedAt: at(1) });
    expect(["\u001b", "\u202e"].filter((hidden) => text.includes(hidden))).toEqual([]);
    expect(text).toContain(String.raw`a\u001b[2Jb`);
    expect(text).toContain(String.raw`failed: x\ny\u202e`);
  });
});
