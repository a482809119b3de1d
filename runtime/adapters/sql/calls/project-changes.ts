import { parseCallId } from "../../../api/grammar.ts";
import { callChangeRow } from "../../../core/history/call-change-row.ts";
import type { HistoryCall } from "../../../core/history/history-row.ts";
import type { CallChange } from "../../../core/ports/call-history.ts";

/** What is stored of calls before a batch. */
export interface StoredCalls {
  find(id: string): HistoryCall | undefined;
  /** The revision up to which changes of a call are ignored: infinite for one that was removed for good. */
  ignoredUpTo(id: string): number | undefined;
}

/** What a batch changes. */
export interface ProjectedChanges {
  /** Calls before and after it; undefined = not stored. */
  readonly calls: readonly { readonly before: HistoryCall | undefined; readonly after: HistoryCall | undefined }[];
  /** Revisions with which calls were withdrawn. */
  readonly withdrawn: ReadonlyMap<string, number>;
}

/** Applies changes one after the other; each call is changed once in the store, however many changes it has. */
export function projectChanges(changes: readonly CallChange[], stored: StoredCalls): ProjectedChanges {
  const before = new Map<string, HistoryCall | undefined>();
  const after = new Map<string, HistoryCall | undefined>();
  const withdrawn = new Map<string, number>();
  for (const change of changes) {
    const id = change.kind === "sync" ? change.call.id : change.id;
    // Nothing else is a key of the store.
    if (parseCallId(id) !== id || isIgnored(change, withdrawn.get(id)) || isIgnored(change, stored.ignoredUpTo(id)))
      continue;
    if (!before.has(id)) before.set(id, stored.find(id));
    const known = after.has(id) ? after.get(id) : before.get(id);
    const result = callChangeRow(known, change);
    const isGone = result === undefined || (result === "unchanged" && known === undefined);
    // Older changes may come later.
    if (change.kind === "withdrawn" && isGone) withdrawn.set(id, change.revision);
    if (result !== "unchanged") after.set(id, result);
  }
  return { calls: [...after].map(([id, call]) => ({ before: before.get(id), after: call })), withdrawn };
}

function isIgnored(change: CallChange, upTo: number | undefined): boolean {
  if (upTo === undefined) return false;
  return change.kind === "sync" ? upTo === Number.POSITIVE_INFINITY : change.revision <= upTo;
}
