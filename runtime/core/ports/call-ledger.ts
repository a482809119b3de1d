import type { CallEntry, UnstampedEntry } from "../calls/call-entry.ts";

/** A record as it was read. */
export interface LedgerEntry {
  readonly entry: CallEntry;
  /** Changes with every write; a write must name the one it read. */
  readonly revision: number;
  /** When it was written, Unix milliseconds of the store's clock. */
  readonly writtenAt: number;
}

export type CreateOutcome =
  | { readonly kind: "created"; readonly revision: number }
  | { readonly kind: "exists"; readonly found: LedgerEntry }
  /** Nothing was written: there are as many records as there may be, the whole store is nearly full, or nobody answers. */
  | {
      readonly kind: "refused";
      readonly because: "records-full" | "store-full" | "unavailable";
      readonly cause?: unknown;
    }
  /** No answer came. */
  | { readonly kind: "unknown"; readonly cause?: unknown };

/** What became of a change of a record. */
export type UpdateOutcome =
  | { readonly kind: "written"; readonly revision: number }
  /** Somebody wrote since that revision; perhaps this very change, its answer lost. */
  | { readonly kind: "conflict" }
  /** Nothing was written. */
  | { readonly kind: "refused"; readonly because: "full" | "unavailable"; readonly cause?: unknown }
  /** No answer came. */
  | { readonly kind: "unknown"; readonly cause?: unknown };

/** The output of one run. */
export interface StoredResult {
  readonly status: number;
  /** Flat, in the order of the function's answer, hop-by-hop headers gone. */
  readonly headers: readonly string[];
  readonly body: Uint8Array;
  /** Milliseconds. */
  readonly duration: number;
}

/**
 * Keeps the records and results of asynchronous calls.
 *
 * - Every write of a record stamps it with when it expires, by what it says and how full the ledger is; that replaces the
 *   former time. Results carry their time to live in milliseconds.
 * - `create` is done with by `until` (monotonic milliseconds); an answer that was lost shows as `exists` with what was
 *   written.
 * - `update` tries for three seconds at most and never rejects. A record is changed by `changeRecord`, which reads when no
 *   answer came and looks for what it wrote.
 * - `read` sees the last write of anyone.
 * - All times in records are of one clock, `now`: those who write them may run on machines whose clocks differ.
 */
export interface CallLedger {
  create(id: string, entry: UnstampedEntry, until: number): Promise<CreateOutcome>;
  read(id: string): Promise<LedgerEntry | undefined>;
  update(id: string, entry: UnstampedEntry, revision: number): Promise<UpdateOutcome>;
  /**
   * How full it is, known about a second ago: the fuller of records ÷ most records and of their bytes ÷ their share of the
   * store. At 1 no record is made any more; those that are there can be written at any time.
   */
  fill(): number;
  /** Unix milliseconds of the clock that `writtenAt` is of, whatever the clock of this machine says. */
  now(): number;
  /** Removes a record that never had a call, if nobody wrote since `revision`. Tried until it is done or a minute is over. */
  withdraw(id: string, revision: number): Promise<void>;
  /** False when the store of results is full. */
  putResult(id: string, run: number, result: StoredResult, ttl: number): Promise<boolean>;
  readResult(id: string, run: number): Promise<StoredResult | undefined>;
  removeResult(id: string, run: number): Promise<void>;
}
