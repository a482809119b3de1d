import type { BrokerFaultKind } from "../../api/broker/broker-fault.ts";
import type { CallEntry, UnstampedEntry } from "../calls/call-entry.ts";
import type { Unavailable } from "./call-queue.ts";

/** A record as it was read. */
export interface LedgerEntry {
  readonly entry: CallEntry;
  /** Changes with every write; a write must name the revision that it read. */
  readonly revision: number;
  /** When it was written, Unix milliseconds of the store's clock. */
  readonly writtenAt: number;
}

export type CreateOutcome =
  | { readonly kind: "created"; readonly revision: number }
  | { readonly kind: "exists"; readonly found: LedgerEntry }
  /** Nothing was written: the limit of records is reached, the whole store is nearly full, or it is unavailable. */
  | { readonly kind: "refused"; readonly because: "records-full" | "store-full"; readonly cause?: unknown }
  | Unavailable
  /** No reply came. */
  | { readonly kind: "unknown"; readonly fault?: BrokerFaultKind | undefined; readonly cause?: unknown };

/** Outcome of a change of a record. */
export type UpdateOutcome =
  | { readonly kind: "written"; readonly revision: number }
  /** The record was written since that revision; perhaps by this very change, whose reply was lost. */
  | { readonly kind: "conflict" }
  /** Nothing was written. */
  | { readonly kind: "refused"; readonly because: "full" | "unavailable"; readonly cause?: unknown }
  /** No reply came. */
  | { readonly kind: "unknown"; readonly cause?: unknown };

/** The output of one run. */
export interface StoredResult {
  readonly status: number;
  /** Flat, in the order of the function's response, without hop-by-hop headers. */
  readonly headers: readonly string[];
  readonly body: Uint8Array;
  /** Milliseconds. */
  readonly duration: number;
}

/**
 * Keeps the records and results of asynchronous calls.
 *
 * - Every write of a record stamps it anew with its expiry, by its content and how full the ledger is. Results carry
 *   their time to live in milliseconds.
 * - `create` ends by `until` (monotonic milliseconds), or half a second after `isAbandoned`; after a lost reply it
 *   resolves with `exists` and what was written.
 * - `update` retries for three seconds at most and never rejects. A record is changed by `changeRecord`, which reads
 *   when no reply came and looks for what it wrote.
 * - `read` returns the last write of any process.
 * - All times in records are of one clock, `now`, as the clocks of the machines that write them may differ.
 */
export interface CallLedger {
  create(id: string, entry: UnstampedEntry, until: number, isAbandoned?: () => boolean): Promise<CreateOutcome>;
  read(id: string): Promise<LedgerEntry | undefined>;
  update(id: string, entry: UnstampedEntry, revision: number): Promise<UpdateOutcome>;
  /**
   * How full the ledger is, as of about a second ago: the larger of records ÷ maximum of records, and their bytes ÷
   * their share of the store. At 1 no record is created any more; existing ones can still be written.
   */
  fill(): number;
  /** Unix milliseconds of the store's clock, as in `writtenAt`, whatever the clock of this machine says. */
  now(): number;
  /** Removes a record that never had a call, unless it was written since `revision`. Retried for a minute at most. */
  withdraw(id: string, revision: number): Promise<void>;
  /** False when the store of results is full. */
  putResult(id: string, run: number, result: StoredResult, ttl: number): Promise<boolean>;
  readResult(id: string, run: number): Promise<StoredResult | undefined>;
  removeResult(id: string, run: number): Promise<void>;
}
