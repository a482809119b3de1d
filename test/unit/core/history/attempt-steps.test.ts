import { describe, expect, test } from "vitest";

import type { CallAttempt, CallEntry } from "../../../../runtime/core/calls/call-entry.ts";
import { attemptSteps, finalAttempt } from "../../../../runtime/core/history/attempt-steps.ts";
import { historyEntry, historyStart } from "../../../support/history-calls.ts";

const iso = (at: number): string => new Date(historyStart + at).toISOString();

/** A run of a second that was answered with 503, `number` minutes after the start. */
function run(number: number, over: Partial<CallAttempt> = {}): CallAttempt {
  const startedAt = historyStart + 60_000 * number;
  return { number, startedAt, endedAt: startedAt + 1_000, status: 503, duration: 1_000, ...over };
}
/** A run that was cut off: it has no status. */
function cutOff(number: number, error?: string): CallAttempt {
  const { startedAt, endedAt = startedAt } = run(number);
  return { number, startedAt, endedAt, ...(error === undefined ? {} : { error }) };
}
const record = (over: Partial<CallEntry>): CallEntry => historyEntry(0, over);
const stepOf = (kind: string, attempt: CallAttempt, all: readonly CallAttempt[], entry?: CallEntry) =>
  attemptSteps(attempt, all, entry).find((step) => step.kind === kind);
const kindsOf = (attempt: CallAttempt, all: readonly CallAttempt[], entry?: CallEntry): string[] =>
  attemptSteps(attempt, all, entry).map(({ kind }) => kind);

describe("a retry is due", () => {
  const [first, second, third] = [run(1), run(2), run(3)];
  const due = historyStart + 500_000;
  const waiting = record({ state: "waiting", ended: null, status: null, next: due });

  test("when its run says so", () => {
    const retried = run(1, { next: historyStart + 90_000 });
    expect(stepOf("retry", retried, [retried], waiting)?.next).toBe(iso(90_000));
  });

  test("in records of earlier releases, where runs do not say it, when the record says so: it is that after the last run", () => {
    const all = [first, second, third];
    expect(all.map((one) => stepOf("retry", one, all, waiting)?.next)).toEqual([undefined, undefined, iso(500_000)]);
    expect(stepOf("retry", first, [first], { ...waiting, next: null })).not.toHaveProperty("next");
  });

  test("unknown where the record at the end of the runs was never seen", () => {
    expect(kindsOf(first, [first, second])).toEqual(["taken", "started", "answered", "retry"]);
    expect(kindsOf(second, [first, second])).toEqual(["taken", "started", "answered"]);
  });
});

describe("a run", () => {
  test("with a status was not cut off, whatever its error says", () => {
    const failed = run(1, { error: "the queue-worker was lost" });
    const retry = { kind: "retry", reason: "the queue-worker was lost", status: 503 };
    expect(attemptSteps(failed, [failed, run(2)], undefined).at(-1)).toMatchObject(retry);
  });

  test("of which too long a record shows neither status nor error was repeated, why is not known", () => {
    const cut = cutOff(1);
    expect(attemptSteps(cut, [cut, run(2)], undefined)).toEqual([
      { at: iso(60_000), kind: "taken", attempt: 1 },
      { at: iso(61_000), kind: "retry", attempt: 1 },
    ]);
  });

  test.each([
    ["cancelled", ["taken"]],
    ["the queue-worker stopped", ["taken", "handedBack"]],
    ["the queue-worker was lost", ["taken", "lost"]],
  ])("that was cut off, as %s, has the steps %j", (error, kinds) => {
    const cut = cutOff(1, error);
    expect(kindsOf(cut, [cut, run(2)])).toEqual(kinds);
  });

  test("that ended in the millisecond in which the call ended, but before another run, was repeated", () => {
    const [first, second] = [run(1), run(1, { number: 2, status: 200 })];
    const done = record({ ended: first.endedAt ?? null });
    expect([first, second].map((one) => kindsOf(one, [first, second], done).includes("retry"))).toEqual([true, false]);
  });

  test.each<[string, Partial<CallEntry>]>([
    ["was cancelled", { state: "cancelled", reason: null }],
    ["expired", { state: "failed", reason: "expired" }],
  ])("that was to be repeated when the call %s, in the same millisecond, is not its end", (_, over) => {
    const last = run(1);
    const entry = record({ ...over, ended: last.endedAt ?? null });
    expect(kindsOf(last, [last], entry)).toEqual(["taken", "started", "answered", "retry"]);
    expect(finalAttempt([last], entry)).toBeUndefined();
  });
});

test.each([1, 2, 3])("of %i runs the last one may have ended the call", (count) => {
  const all = Array.from({ length: count }, (_, index) => run(index + 1));
  const last = all.at(-1);
  expect(finalAttempt(all, record({ ended: last?.endedAt ?? null }))).toBe(last);
});

test("a call without runs was ended by none", () => expect(finalAttempt([], record({}))).toBeUndefined());
