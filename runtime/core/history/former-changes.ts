import type { CallChange } from "../ports/call-history.ts";
import type { HistoryCall } from "./history-row.ts";

/**
 * The changes that make of nothing what a history has of a call. Applied beside its records, in any order, they add what
 * no record shows any more. `offset` is added to the revisions.
 */
export function formerChanges({ row, details }: HistoryCall, offset = 0): readonly CallChange[] {
  const { entry, earlier = [], sync } = details;
  if (sync !== undefined) return [{ kind: "sync", call: sync }];
  const entries = [...earlier, ...(entry === undefined ? [] : [{ revision: row.revision, entry }])];
  return entries.map((one) => ({ kind: "entry", id: row.id, revision: one.revision + offset, entry: one.entry }));
}
