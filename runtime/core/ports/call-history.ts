import type { CallEntry, CallSource } from "../calls/call-entry.ts";
import type { FunctionRef } from "../functions/function-ref.ts";
import type { CallKind, CallRow, HistoryCall, HistoryState, AnsweredCall } from "../history/history-row.ts";
import type { RollupPoint, RollupSeries, RollupStep } from "../history/rollups/rollup.ts";

/** What a list of calls is narrowed to; an absent member narrows nothing. All values are safe in JSON. */
export interface CallFilter {
  readonly function?: FunctionRef;
  readonly namespace?: string;
  readonly queue?: string;
  readonly kind?: CallKind;
  readonly states?: readonly HistoryState[];
  /** Inclusive ranges of statuses: 5xx is 500 to 599. */
  readonly statuses?: readonly (readonly [from: number, to: number])[];
  readonly reasons?: readonly string[];
  readonly sources?: readonly CallSource[];
  /** Unix milliseconds, inclusive. */
  readonly since?: number;
  /** Unix milliseconds, exclusive. */
  readonly until?: number;
  /** The first 4 to 32 hexadecimal digits of the id, in lower case, without hyphens. */
  readonly idPrefix?: string;
  /** The functions whose calls the sender may see, as `namespace/name`; absent = all. */
  readonly permitted?: readonly string[];
}

/** A place between two calls of a list, which new calls never move. */
export interface CallPlace {
  readonly accepted: number;
  readonly id: string;
}

export interface CallListQuery {
  readonly filter: CallFilter;
  readonly limit: number;
  readonly after?: CallPlace;
}

/** Records that were missed: those of calls that changed in this time. Unix milliseconds. */
export interface HistoryGap {
  readonly from: number;
  readonly to: number;
}

/** How far the history is behind the records. */
export interface HistoryProgress {
  readonly lagSeconds: number;
  /** Whether it is no further behind than usual; what it missed is in the gaps. */
  readonly complete: boolean;
  readonly gaps: readonly HistoryGap[];
}

export interface CallPage {
  /** Newest first, by time of acceptance and id. */
  readonly rows: readonly CallRow[];
  /** Where the next page begins; absent on the last one. A page may hold fewer rows than its limit and have a next one. */
  readonly next?: CallPlace;
  readonly total: { readonly value: number; readonly exact: boolean };
}

/** A place in the stream of records. */
export interface StreamPosition {
  /** When the stream was created, as the broker says it: another stream begins anew. */
  readonly created: string;
  readonly sequence: number;
  /** Everything that was stored before this time was read. Unix milliseconds of the broker's clock. */
  readonly at: number;
  /** Added to a sequence it gives the revision, so that revisions of a new stream are greater than those before it. */
  readonly base: number;
}

/** One change of a call, as it was read from the records. */
export type CallChange =
  | { readonly kind: "entry"; readonly id: string; readonly revision: number; readonly entry: CallEntry }
  /** Its record was removed as the call was never accepted; one that expired is no change. */
  | { readonly kind: "withdrawn"; readonly id: string; readonly revision: number }
  | { readonly kind: "sync"; readonly call: AnsweredCall };

/** What is stored in one transaction, all of it or nothing. */
export interface HistoryBatch {
  readonly changes: readonly CallChange[];
  readonly rollups: readonly RollupPoint[];
  /** Absent where nothing was read from the stream. */
  readonly position?: StreamPosition;
  readonly gap?: HistoryGap;
}

/** What is kept at most; the first that is reached removes the oldest ended calls. */
export interface HistoryBounds {
  /** Milliseconds. */
  readonly age: number;
  readonly calls: number;
  readonly bytes: number;
}

export interface RollupQuery {
  readonly functions: readonly FunctionRef[];
  /** One series of all the functions together, with empty names, in place of one of each. */
  readonly summed?: boolean;
  /** Only the series of the functions with most calls, at most so many, most calls first. */
  readonly top?: number;
  readonly step: RollupStep;
  /** Unix milliseconds, multiples of the step; `until` is exclusive. */
  readonly since: number;
  readonly until: number;
}

/** Reads the history of calls. Every read ends within about a second, or rejects; it never blocks the writer. */
export interface CallHistory {
  list(query: CallListQuery): Promise<CallPage>;
  get(id: string): Promise<HistoryCall | undefined>;
  /** Ids of the calls that replay this one, oldest first, at most 100. */
  replaysOf(id: string): Promise<readonly string[]>;
  /** All functions that have calls, or have had rollups. */
  functions(): Promise<readonly FunctionRef[]>;
  gaps(): Promise<readonly HistoryGap[]>;
  rollups(query: RollupQuery): Promise<readonly RollupSeries[]>;
}

/** Writes the history of calls; there is one writer at a time. Applying anything twice changes nothing. */
export interface CallHistoryWriter {
  position(): Promise<StreamPosition | undefined>;
  apply(batch: HistoryBatch): Promise<void>;
  /** Open calls, at most `limit`, from those after `after` in the order of ids: whether their records are still there. */
  openCalls(after: string | undefined, limit: number): Promise<readonly string[]>;
  /** Makes open calls unknown. */
  markUnknown(ids: readonly string[]): Promise<void>;
  /** Removes a call for good: a tombstone keeps it away. False if it is open; true also if it is unknown. */
  remove(id: string): Promise<boolean>;
  removeNamespace(namespace: string): Promise<void>;
  /** Removes at most 1 000 calls beyond the bounds, and rollups beyond their age; true if there is more to remove. */
  trim(bounds: HistoryBounds, now: number): Promise<boolean>;
  /** What is stored. */
  size(): Promise<{ readonly calls: number; readonly bytes: number }>;
}
