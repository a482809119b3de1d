import type { CallEntry } from "../calls/call-entry.ts";
import type { CallChange } from "../ports/call-history.ts";
import { asyncCallRow, syncCallRow } from "./call-row.ts";
import type { CallDetails, CallRow, EarlierEntry, HistoryCall, AnsweredCall } from "./history-row.ts";
import { mergedAttempts, mergedTries } from "./merged-attempts.ts";

/** Newest redrives of a call whose earlier records are kept. */
const maxEarlier = 32;

type EntryChange = Extract<CallChange, { kind: "entry" }>;

/**
 * A call after one change of its record; undefined if it is no longer kept. Only a greater revision changes what the
 * call is now; an older one adds what no later record shows: attempts, tries of the callback, what was before a
 * redrive. So all changes of a call make the same of it in any order, however often each comes.
 */
export function callChangeRow(
  before: HistoryCall | undefined,
  change: CallChange,
): HistoryCall | undefined | "unchanged" {
  switch (change.kind) {
    case "entry":
      return changed(before, withEntry(before, change));
    case "withdrawn":
      return before !== undefined && isWithdrawn(before.row, change.revision) ? undefined : "unchanged";
    case "sync":
      return changed(before, withSync(before, change.call));
    default:
      return change satisfies never;
  }
}

/** A refused call was never accepted: it is queued, and nothing ran. */
function isWithdrawn({ kind, state, revision }: CallRow, withdrawn: number): boolean {
  return kind === "async" && state === "queued" && revision < withdrawn;
}

/** An id may be that of a queued call that was run through the gateway: the queued call is the whole of it. */
function withSync(before: HistoryCall | undefined, sync: AnsweredCall): HistoryCall {
  const known = before?.details.sync;
  if (before !== undefined && (known === undefined || isLater(known, sync))) return before;
  return { row: syncCallRow(sync), details: { sync } };
}

/** Of two synchronous calls under one id the later one is kept; any order of two at once is one for all. */
function isLater(one: AnsweredCall, other: AnsweredCall): boolean {
  return one.startedAt === other.startedAt
    ? JSON.stringify(one) > JSON.stringify(other)
    : one.startedAt > other.startedAt;
}

function withEntry(before: HistoryCall | undefined, change: EntryChange): HistoryCall {
  const { id, revision } = change;
  const entry = withoutQuery(change.entry);
  const current = currentOf(before);
  const seen = [...(before?.details.earlier ?? []), ...(current === undefined ? [] : [current]), { revision, entry }];
  const last = seen.reduce((newest, other) => (other.revision > newest.revision ? other : newest));
  const attempts = seen.reduce((known, { entry: { attempts: shown } }) => mergedAttempts(known, shown), noAttempts);
  const earlier = earlierEntries(seen, last);
  const merged = withTries({ ...last.entry, attempts }, seen);
  const details: CallDetails = { entry: merged, ...(earlier.length === 0 ? {} : { earlier }) };
  const row = asyncCallRow(id, last.revision, merged);
  // That the record is gone is no revision of it.
  const isUnknown = before?.row.state === "unknown" && before.row.revision === last.revision;
  return { row: isUnknown ? { ...row, state: "unknown" } : row, details };
}

const noAttempts: CallEntry["attempts"] = [];

/** Queries of callbacks may hold secrets: the history never stores them. */
function withoutQuery(entry: CallEntry): CallEntry {
  const { callback } = entry;
  return callback === null ? entry : { ...entry, callback: { ...callback, url: callback.url.replace(/[?#].*/s, "") } };
}

function currentOf(before: HistoryCall | undefined): EarlierEntry | undefined {
  const entry = before?.details.entry;
  return before === undefined || entry === undefined ? undefined : { revision: before.row.revision, entry };
}

/** Of each redrive before that of the last record, the last record; a redrive that was undone is not one. */
function earlierEntries(seen: readonly EarlierEntry[], last: EarlierEntry): readonly EarlierEntry[] {
  const byRedrive = new Map<number, EarlierEntry>();
  for (const one of seen) {
    const { redrives } = one.entry;
    if (redrives >= last.entry.redrives) continue;
    const known = byRedrive.get(redrives);
    if (known === undefined || one.revision > known.revision) byRedrive.set(redrives, one);
  }
  return [...byRedrive.values()]
    .toSorted((one, other) => one.entry.redrives - other.entry.redrives)
    .slice(-maxEarlier)
    .map(({ revision, entry }) => ({ revision, entry: withTries({ ...entry, attempts: [] }, seen) }));
}

/** With all tries of the callback that were seen under its redrive. */
function withTries(entry: CallEntry, seen: readonly EarlierEntry[]): CallEntry {
  const { callback, redrives } = entry;
  if (callback === null) return entry;
  const tries = seen
    .filter((one) => one.entry.redrives === redrives)
    .reduce((known, one) => mergedTries(known, one.entry.callback?.tries ?? []), noTries);
  return tries.length === 0 ? entry : { ...entry, callback: { ...callback, tries } };
}

const noTries: NonNullable<NonNullable<CallEntry["callback"]>["tries"]> = [];

function changed(before: HistoryCall | undefined, after: HistoryCall): HistoryCall | "unchanged" {
  return before !== undefined && isSame(before, after) ? "unchanged" : after;
}

/** All other columns follow from the revision and the details. */
function isSame(before: HistoryCall, after: HistoryCall): boolean {
  return (
    before === after ||
    (before.row.revision === after.row.revision && JSON.stringify(before.details) === JSON.stringify(after.details))
  );
}
