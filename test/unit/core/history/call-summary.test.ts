import { expect, test } from "vitest";

import { asyncCallRow, syncCallRow } from "../../../../runtime/core/history/call-row.ts";
import { callSummary, inSeconds } from "../../../../runtime/core/history/call-summary.ts";
import { historyEntry, historyId, historyStart, openEntry } from "../../../support/history-calls.ts";

const id = historyId(0);
const summaryOfEntry = (over: Parameters<typeof historyEntry>[1] = {}) =>
  callSummary(asyncCallRow(id, 1, historyEntry(0, over)));
const known = {
  callId: id,
  kind: "async",
  functionName: "echo",
  namespace: "functions",
  queue: "default",
  source: "http",
  acceptedAt: new Date(historyStart).toISOString(),
};

test("a call that has not run has no status, end, reason or times", () => {
  expect(summaryOfEntry(openEntry)).toStrictEqual({ ...known, state: "queued", retries: 0 });
});

test("a call that failed says when, why and how long it took", () => {
  const attempts = [
    { number: 1, startedAt: historyStart + 20, endedAt: historyStart + 32, status: 503, duration: 11.5, coldStart: 9 },
  ];
  expect(summaryOfEntry({ state: "failed", reason: "exhausted", status: 503, retries: 2, attempts })).toStrictEqual({
    ...known,
    state: "failed",
    reason: "exhausted",
    status: 503,
    endedAt: new Date(historyStart + 40).toISOString(),
    waitSeconds: 0.02,
    durationSeconds: 0.0115,
    coldStartSeconds: 0.009,
    retries: 2,
  });
});

test("its duration is that of the last run that has one, its cold start the longest", () => {
  const row = asyncCallRow(
    id,
    1,
    historyEntry(0, {
      attempts: [
        { number: 1, startedAt: historyStart + 10, duration: 5, coldStart: 700 },
        { number: 2, startedAt: historyStart + 20, duration: 6 },
        { number: 3, startedAt: historyStart + 30, duration: 7, coldStart: 300 },
        { number: 4, startedAt: historyStart + 40 },
      ],
    }),
  );
  expect(row).toMatchObject({ wait: 10, duration: 7, coldStart: 700 });
});

test.each([
  [399, "done"],
  [400, "failed"],
])("a synchronous call that was answered with %i is %s", (status, state) => {
  const call = {
    id,
    namespace: "functions",
    name: "echo",
    method: "GET",
    status,
    startedAt: historyStart,
    duration: 1,
  };
  expect(syncCallRow(call).state).toBe(state);
});

test.each([
  [0.0004, 0],
  [0.0006, 0.000001],
  [1_234.5678, 1.234568],
])("%d milliseconds are %d s", (milliseconds, seconds) => expect(inSeconds(milliseconds)).toBe(seconds));
