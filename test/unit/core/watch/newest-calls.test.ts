import { expect, test } from "vitest";

import type { CallRow } from "../../../../runtime/core/history/history-row.ts";
import { maxCalls, NewestCalls } from "../../../../runtime/core/watch/newest-calls.ts";

const row = (number: number, over: Partial<CallRow> = {}): CallRow => ({
  id: `${String(number).padStart(8, "0")}-0000-4000-8000-000000000000`,
  kind: "async",
  name: "hello",
  namespace: "functions",
  revision: 1,
  accepted: number * 1_000,
  queue: "default",
  state: "queued",
  status: null,
  reason: null,
  source: "http",
  ended: null,
  wait: null,
  duration: null,
  coldStart: null,
  retries: 0,
  ...over,
});
const idOf = (number: number): string => row(number).id;
/** The newest so many, newest first, from `last` on. */
const newest = (last: number, count: number): CallRow[] =>
  Array.from({ length: count }, (_, index) => row(last - index));
const endOf = (rows: readonly CallRow[]) => {
  const last = rows.at(-1);
  return last === undefined ? undefined : { accepted: last.accepted, id: last.id };
};

test("tells what is new and what changed, and nothing else", () => {
  const calls = new NewestCalls();
  expect(calls.replace([row(2), row(1)], undefined).calls.map(({ callId }) => callId)).toEqual([idOf(2), idOf(1)]);
  expect(calls.replace([row(2), row(1)], undefined)).toEqual({ calls: [], removed: [] });
  const change = calls.replace([row(3), row(2), row(1, { state: "done", status: 200 })], undefined);
  expect(change.calls.map(({ callId, state }) => [callId, state])).toEqual([
    [idOf(3), "queued"],
    [idOf(1), "done"],
  ]);
  expect(calls.calls).toHaveLength(3);
});

test("a call that the filter no longer matches is removed, one that newer ones pushed out is not", () => {
  const calls = new NewestCalls();
  const first = newest(50, maxCalls);
  calls.replace(first, endOf(first));
  const second = newest(52, maxCalls + 1).filter(({ id }) => id !== idOf(20));
  expect(calls.replace(second, endOf(second))).toMatchObject({ removed: [idOf(20)] });
  expect(calls.has(idOf(1))).toBe(false);
  // Without a next page there is nothing that older ones could have been pushed out to.
  expect(calls.replace([row(52)], undefined).removed).toHaveLength(maxCalls - 1);
});

test("calls of the same moment are in the order of their ids", () => {
  const calls = new NewestCalls();
  const at = { accepted: 1_000 };
  calls.replace([row(3, at), row(2, at), row(1, at)], undefined);
  expect(calls.replace([row(3, at)], { accepted: 1_000, id: idOf(2) }).removed).toEqual([idOf(2)]);
});

test("knows when calls may have come and gone between two looks", () => {
  const calls = new NewestCalls();
  expect(calls.mayHaveMissed(newest(50, maxCalls))).toBe(false);
  calls.replace(newest(50, maxCalls), undefined);
  expect(calls.mayHaveMissed(newest(99, maxCalls))).toBe(false);
  expect(calls.mayHaveMissed(newest(100, maxCalls))).toBe(true);
  expect(calls.mayHaveMissed(newest(200, maxCalls - 1))).toBe(false);
});

test("gives all calls of the list as they were last seen, newest first", () => {
  const calls = new NewestCalls();
  calls.replace([row(2), row(1)], undefined);
  calls.replace([row(3), row(2, { state: "running" })], undefined);
  expect(calls.calls.map(({ callId, state }) => [callId, state])).toEqual([
    [idOf(3), "queued"],
    [idOf(2), "running"],
  ]);
});

test("whether newer calls pushed one out is told by its time, whatever its id", () => {
  const calls = new NewestCalls();
  calls.replace([row(1, { accepted: 3_000 }), row(9, { accepted: 1_000 })], undefined);
  // The page ends behind a call that is newer and has a lower id.
  const end = { accepted: 2_000, id: idOf(2) };
  expect(calls.replace([row(1, { accepted: 3_000 })], end).removed).toEqual([]);
});
