import { beforeEach, expect, test } from "vitest";

import type { CallAttempt, CallEntry } from "../../../../../runtime/core/calls/call-entry.ts";
import type { FunctionRef } from "../../../../../runtime/core/functions/function-ref.ts";
import { matchRuns, type LoneReads } from "../../../../../runtime/core/history/logs/lone-windows.ts";
import { historyEntry, historyId } from "../../../../support/history-calls.ts";
import { MemoryCallHistory } from "../../../../support/memory/memory-call-history.ts";

const echo = { namespace: "functions", name: "echo" };
/** Begin of an interval that is counted. */
const start = Date.parse("2026-01-31T12:00:00Z");
const now = start + 3_600_000;

let history: MemoryCallHistory;
beforeEach(() => {
  history = new MemoryCallHistory();
});

interface WrittenCall {
  readonly number: number;
  readonly attempts: readonly CallAttempt[];
  readonly over?: Partial<CallEntry>;
}

/** One run, milliseconds after the start. */
function ran(number: number, from: number, to: number, replica: string, over: Partial<CallEntry> = {}): WrittenCall {
  const attempt = { number: 1, startedAt: start + from, endedAt: start + to, status: 200, replica };
  return { number, attempts: [attempt], over: { ended: start + to, ...over } };
}

/** Writes calls, each accepted when it first ran. */
async function write(...calls: readonly WrittenCall[]): Promise<void> {
  const changes = calls.map(({ number, attempts, over }) => {
    const accepted = `${attempts[0]?.startedAt ?? start}000000`;
    const entry = historyEntry(number, { accepted, attempts, run: attempts.length, ...over });
    return { kind: "entry", id: historyId(number), revision: 1, entry } as const;
  });
  await history.apply({ changes, rollups: [] });
}

/** Counts calls that ended in the second interval, 10 s to 20 s after the start. */
async function count(calls: number, ref: FunctionRef = echo): Promise<void> {
  const point = { ...ref, source: "gateway", at: start + 10_000, calls: [0, calls, 0, 0, 0] };
  await history.apply({ changes: [], rollups: [point] });
}

const whole = { from: start + 13_000, to: start + 14_501 };

/** Writes call 1, which ran from 13 s to 14 s at replica a: in which time it was alone there, half a second after it included. */
async function alone(reads: LoneReads = history): Promise<unknown> {
  await write(ran(1, 13_000, 14_000, "a"));
  const call = await history.get(historyId(1));
  if (call === undefined) throw new Error("there is no such call");
  const [run] = await matchRuns(reads, call, now);
  return run?.alone;
}

test("a run without others is alone until half a second after its end", async () => {
  expect(await alone()).toEqual(whole);
});

test("only the last eight runs are looked at; those before are shown as not alone", async () => {
  const attempts = Array.from({ length: 10 }, (_, index) => ({
    number: index + 1,
    startedAt: start + 60_000 * index,
    endedAt: start + 60_000 * index + 1_000,
    status: 503,
    replica: "a",
  }));
  await write({ number: 1, attempts, over: { ended: start + 541_000, retries: 9 } });
  const call = await history.get(historyId(1));
  if (call === undefined) throw new Error("there is no such call");
  const runs = await matchRuns(history, call, now);
  expect(runs.map(({ number, alone: window }) => [number, window !== undefined])).toEqual(
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((number) => [number, number > 2]),
  );
  const window = { from: start + 60_000, to: start + 61_001 };
  expect(runs[1]).toEqual({ number: 2, window, replica: "a", hasFailed: true, alone: undefined });
});

test("calls of another function leave it alone", async () => {
  await write(ran(2, 13_500, 13_600, "a", { function: "other" }));
  await count(5, { ...echo, name: "other" });
  expect(await alone()).toEqual(whole);
});

test.each([
  [499, whole],
  [500, undefined],
])("with %i other calls in the hour before it is alone: %o", async (others, window) => {
  const each = Array.from({ length: others }, (_, index) => ran(2 + index, index, index + 1, "a"));
  await write(...each);
  expect(await alone()).toEqual(window);
});

test.each([
  [16, whole],
  [17, undefined],
])("with %i calls at another replica meanwhile it is alone: %o", async (others, window) => {
  await write(...Array.from({ length: others }, (_, index) => ran(2 + index, 13_100, 13_900, "b")));
  expect(await alone()).toEqual(window);
});

test("a call that has left the history since it was listed may have been at the same replica", async () => {
  await write(ran(2, 13_100, 13_900, "b"));
  const reads: LoneReads = {
    list: (query) => history.list(query),
    rollups: (query) => history.rollups(query),
    get: async () => undefined,
  };
  expect(await alone(reads)).toBeUndefined();
});

test.each([
  ["ended as the interval began", whole, 10_000],
  ["ended before the interval", undefined, 9_999],
  ["ended in the last millisecond of the interval", whole, 19_999],
  ["ended after the interval", undefined, 20_000],
  ["has not ended", undefined, null],
])("where two calls were counted, and another %s, the run is alone: %o", async (_, window, at) => {
  const ended = at === null ? null : start + at;
  const attempts = at === null ? [] : [{ number: 1, startedAt: start + at - 1, endedAt: start + at, status: 200 }];
  const accepted = `${start + 9_000}000000`;
  await write({ number: 2, attempts, over: { accepted, ended, state: ended === null ? "queued" : "done" } });
  await count(2);
  expect(await alone()).toEqual(window);
});

test.each([
  [4, whole],
  [5, undefined],
])("a call with two retries counts for three runs: with %i counted, the run is alone: %o", async (counted, window) => {
  const attempts = [15_000, 16_000, 17_000].map((at, index) => {
    const startedAt = start + at;
    return { number: index + 1, startedAt, endedAt: startedAt + 100, status: 500, replica: "a" };
  });
  await write({ number: 2, attempts, over: { retries: 2, ended: start + 17_100 } });
  await count(counted);
  expect(await alone()).toEqual(window);
});
