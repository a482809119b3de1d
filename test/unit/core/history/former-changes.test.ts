import fc from "fast-check";
import { expect, test } from "vitest";

import { callChangeRow } from "../../../../runtime/core/history/call-change-row.ts";
import { formerChanges } from "../../../../runtime/core/history/former-changes.ts";
import type { HistoryCall } from "../../../../runtime/core/history/history-row.ts";
import type { CallChange } from "../../../../runtime/core/ports/call-history.ts";
import { historyChange, historySyncCall } from "../../../support/history-calls.ts";
import { randomCalls } from "../../../support/random-call.ts";

function applied(changes: readonly CallChange[], before?: HistoryCall): HistoryCall | undefined {
  return changes.reduce<HistoryCall | undefined>((call, change) => {
    const after = callChangeRow(call, change);
    return after === "unchanged" ? call : after;
  }, before);
}

test("the changes of a call make the same of nothing, in any order", () => {
  fc.assert(
    fc.property(randomCalls(60), fc.boolean(), ({ changes }, isReversed) => {
      const call = applied(changes);
      if (call === undefined) throw new Error("a call without a record");
      const former = formerChanges(call);
      expect(applied(isReversed ? former.toReversed() : former)).toEqual(call);
    }),
  );
});

test("beside the records that still exist they make what was known before", () => {
  fc.assert(
    fc.property(randomCalls(60), fc.nat(), ({ changes }, number) => {
      const whole = applied(changes);
      // Only the last record of a call exists, and the former history may have seen less.
      const [last] = changes.slice(-1);
      const seen = applied(changes.slice(0, 1 + (number % changes.length)));
      if (whole === undefined || seen === undefined || last === undefined) throw new Error("a call without a record");
      expect(applied(formerChanges(seen), applied([last]))).toEqual(applied([last], seen));
      expect(applied([last], applied(formerChanges(seen)))).toEqual(applied([last], seen));
    }),
  );
});

test("a synchronous call is itself", () => {
  const sync = applied([{ kind: "sync", call: historySyncCall(1) }]);
  if (sync === undefined) throw new Error("no call");
  expect(applied(formerChanges(sync))).toEqual(sync);
  expect(formerChanges({ ...sync, details: {} }, -5)).toEqual([]);
});

test("revisions are moved on request, also those before a redrive", () => {
  const call = applied([historyChange(1, {}, 7), historyChange(1, { redrives: 1 }, 9)]);
  if (call === undefined) throw new Error("no call");
  const revisions = (offset: number) =>
    formerChanges(call, offset).map((change) => (change.kind === "sync" ? undefined : change.revision));
  expect([revisions(100), revisions(-5)]).toEqual([
    [107, 109],
    [2, 4],
  ]);
});
