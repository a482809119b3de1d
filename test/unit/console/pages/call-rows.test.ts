import { expect, test } from "vitest";

import type { CallSummary } from "../../../../runtime/api/schemas/history/call-summary.ts";
import { callRows, withCall } from "../../../../runtime/console/pages/calls/list/call-rows.ts";

const at = (second: number): string => new Date(Date.UTC(2026, 0, 31, 12, 0, second)).toISOString();
const call = (second: number, callId = `call-${second}`, state = "queued"): CallSummary => ({
  callId,
  kind: "async",
  functionName: "hello",
  namespace: "functions",
  state: state as CallSummary["state"],
  source: "http",
  acceptedAt: at(second),
  retries: 0,
});
const shown = (calls: readonly CallSummary[], gaps: readonly [number, number][]) =>
  callRows(
    calls,
    gaps.map(([from, to]) => ({ from: at(from), to: at(to) })),
  ).map((row) => (row.kind === "call" ? row.call.callId : `gap to ${Date.parse(row.gap.to) - Date.parse(at(0))}`));

test("a gap is a row above the calls that were accepted before its end", () => {
  expect(shown([call(50), call(30), call(10)], [[20, 40]])).toEqual(["call-50", "gap to 40000", "call-30", "call-10"]);
  expect(shown([call(50)], [[51, 55]])).toEqual(["gap to 55000", "call-50"]);
});

test("gaps are in order, one that is older than all calls comes last, and without calls there are only gaps", () => {
  expect(
    shown(
      [call(50), call(30)],
      [
        [1, 2],
        [40, 45],
        [31, 35],
      ],
    ),
  ).toEqual(["call-50", "gap to 45000", "gap to 35000", "call-30", "gap to 2000"]);
  expect(shown([], [[1, 2]])).toEqual(["gap to 2000"]);
});

test("a call takes the place of its earlier state", () => {
  const before = [call(50), call(30), call(10)];
  const after = withCall(before, call(30, "call-30", "done"), false);
  expect(after.map(({ callId, state }) => `${callId} ${state}`)).toEqual([
    "call-50 queued",
    "call-30 done",
    "call-10 queued",
  ]);
});

test("a new call comes where its time and id belong; one beyond the page is of a later page", () => {
  const before = [call(50), call(30, "b"), call(10)];
  const ids = (calls: readonly CallSummary[]) => calls.map(({ callId }) => callId);
  expect(ids(withCall(before, call(60), true))).toEqual(["call-60", "call-50", "b", "call-10"]);
  expect(ids(withCall(before, call(30, "c"), true))).toEqual(["call-50", "c", "b", "call-10"]);
  expect(ids(withCall(before, call(30, "a"), true))).toEqual(["call-50", "b", "a", "call-10"]);
  expect(ids(withCall(before, call(5), true))).toEqual(ids(before));
  expect(ids(withCall(before, call(5), false))).toEqual([...ids(before), "call-5"]);
  expect(ids(withCall([], call(5), false))).toEqual(["call-5"]);
});
