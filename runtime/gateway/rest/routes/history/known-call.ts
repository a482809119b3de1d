import { PlatformError } from "../../../../api/platform-error.ts";
import { callChangeRow } from "../../../../core/history/call-change-row.ts";
import type { HistoryCall } from "../../../../core/history/history-row.ts";
import type { HistoryProgress } from "../../../../core/ports/call-history.ts";
import type { CallLedger, LedgerEntry } from "../../../../core/ports/call-ledger.ts";
import type { HistoryParts } from "../../app-parts.ts";

/** A call, as its record in the broker and the history know it together. */
export interface KnownCall {
  readonly call: HistoryCall;
  /** Ids of the calls that replay it, oldest first. */
  readonly replays: readonly string[];
  readonly progress: HistoryProgress;
}

/** What is said of a history that is away. */
export const awayProgress: HistoryProgress = { lagSeconds: 0, complete: false, gaps: [] };

/**
 * What is known of a call: its record is the truth, the history adds what the record no longer shows. One of the two
 * may be away; undefined if neither knows it.
 * @throws PlatformError when one is away and the other does not know it
 */
export async function readKnownCall(
  ledger: Pick<CallLedger, "read">,
  { reads, progress }: Pick<HistoryParts, "reads" | "progress">,
  id: string,
): Promise<KnownCall | undefined> {
  const [record, kept] = await Promise.all([
    outcomeOf(ledger.read(id)),
    outcomeOf(Promise.all([reads.get(id), reads.replaysOf(id), progress()])),
  ]);
  if ("failure" in kept) {
    if ("failure" in record) throw record.failure;
    if (record.value === undefined) throw kept.failure;
    return known(withRecord(undefined, id, record.value), [], awayProgress);
  }
  const [before, replays, state] = kept.value;
  if ("failure" in record) {
    if (before === undefined) throw record.failure;
    return known(before, replays, state);
  }
  return known(record.value === undefined ? before : withRecord(before, id, record.value), replays, state);
}

function known(
  call: HistoryCall | undefined,
  replays: readonly string[],
  progress: HistoryProgress,
): KnownCall | undefined {
  return call === undefined ? undefined : { call, replays, progress };
}

function withRecord(
  before: HistoryCall | undefined,
  id: string,
  { entry, revision }: LedgerEntry,
): HistoryCall | undefined {
  const merged = callChangeRow(before, { kind: "entry", id, revision, entry });
  return merged === "unchanged" ? before : merged;
}

type Outcome<T> = { readonly value: T } | { readonly failure: PlatformError };

/** Other errors are defects, and are no reason to answer without it. */
async function outcomeOf<T>(work: Promise<T>): Promise<Outcome<T>> {
  try {
    return { value: await work };
  } catch (err) {
    if (err instanceof PlatformError) return { failure: err };
    throw err;
  }
}
