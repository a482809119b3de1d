import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { compactDetails, expandDetails } from "../../../../runtime/adapters/sql/calls/compact-details.ts";
import type { CallEntry } from "../../../../runtime/core/calls/call-entry.ts";
import { callChangeRow } from "../../../../runtime/core/history/call-change-row.ts";
import { asyncCallRow, syncCallRow } from "../../../../runtime/core/history/call-row.ts";
import type { HistoryCall } from "../../../../runtime/core/history/history-row.ts";
import { historyEntry, historyId, historyStart, historySyncCall } from "../../../support/history-calls.ts";
import { randomCalls } from "../../../support/random-call.ts";

function callOf(entry: CallEntry): HistoryCall {
  return { row: asyncCallRow(historyId(1), 1, entry), details: { entry } };
}

/** What is read of a call that was stored. */
function readAgain(call: HistoryCall): HistoryCall {
  return { row: call.row, details: expandDetails(compactDetails(call), call.row) };
}

describe("compactDetails()", () => {
  test("keeps everything of a call, at each of its changes", () => {
    fc.assert(
      fc.property(randomCalls(), ({ changes }) => {
        let call: HistoryCall | undefined;
        for (const change of changes) {
          const after = callChangeRow(call, change);
          if (after === undefined || after === "unchanged") continue;
          call = readAgain(after);
          expect(call).toEqual(after);
          const unknown = { ...after, row: { ...after.row, state: "unknown" as const } };
          expect(readAgain(unknown)).toEqual(unknown);
          expect(callChangeRow(call, change)).toBe("unchanged");
        }
      }),
      { numRuns: 200 },
    );
  });

  test("keeps synchronous calls, and what a later release may add to a record", () => {
    const sync = historySyncCall(1, { replica: "r", coldStart: 0.5, startedAt: historyStart + 0.25 });
    const call = { row: syncCallRow(sync), details: { sync } };
    expect(readAgain(call)).toEqual(call);
    const later = callOf(Object.assign(historyEntry(1), { shape: { round: [1] }, x1: null }));
    expect(readAgain(later)).toEqual(later);
    const fine = callOf(historyEntry(1, { accepted: `${historyStart + 1_000}123456` }));
    expect(readAgain(fine)).toEqual(fine);
  });

  test("takes few bytes of a usual call", () => {
    const digest = "x".repeat(43);
    const accepted = historyStart + 1_000;
    const once = historyEntry(1, {
      digest,
      accepted: `${accepted}123456`,
      result: { run: 1, size: 512, stored: true, ttl: 3_600_000 },
      attempts: [
        {
          number: 1,
          startedAt: accepted + 20,
          endedAt: accepted + 32,
          status: 200,
          duration: 11.523,
          worker: "weir-worker-5f6d-1",
          replica: "echo-7d9f8c6b5-x2x9v",
        },
      ],
    });
    expect(compactDetails(callOf(once)).length).toBeLessThan(230);
    expect(JSON.stringify({ entry: once }).length).toBeGreaterThan(600);
  });
});
