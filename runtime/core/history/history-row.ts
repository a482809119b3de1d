import type { CallState } from "../../api/schemas/call-record.ts";
import type { CallEntry, CallSource } from "../calls/call-entry.ts";
import type { FunctionRef } from "../functions/function-ref.ts";

/** A call that was queued, or one that was answered at once. */
export type CallKind = "async" | "sync";

/** The state of a call in the history; unknown: its record is gone and its end was not seen. */
export type HistoryState = CallState | "unknown";

/** What is kept of a synchronous call: no path, query, header, body or client. Times are Unix milliseconds. */
export interface AnsweredCall extends FunctionRef {
  readonly id: string;
  readonly method: string;
  readonly status: number;
  readonly startedAt: number;
  /** Milliseconds. */
  readonly duration: number;
  readonly replica?: string;
  /** Milliseconds that it waited for a replica to start. */
  readonly coldStart?: number;
}

/** The columns of a call that lists are narrowed and sorted by. Times are Unix milliseconds. */
export interface CallRow extends FunctionRef {
  /** UUID in lower case. */
  readonly id: string;
  readonly kind: CallKind;
  /** Of the record in the broker; a row takes only a greater one. 0 for synchronous calls. */
  readonly revision: number;
  readonly accepted: number;
  /** Empty for synchronous calls. */
  readonly queue: string;
  readonly state: HistoryState;
  readonly status: number | null;
  readonly reason: string | null;
  readonly source: CallSource;
  readonly ended: number | null;
  /** Milliseconds from acceptance to the first run. */
  readonly wait: number | null;
  /** Milliseconds of the last run. */
  readonly duration: number | null;
  /** Milliseconds of the longest wait for a replica to start. */
  readonly coldStart: number | null;
  readonly retries: number;
}

/** A record as it was last before a redrive; its attempts are among those of the call's last record. */
export interface EarlierEntry {
  readonly revision: number;
  readonly entry: CallEntry;
}

/** What a row keeps beside its columns, stored as compact JSON. */
export interface CallDetails {
  /** The record as it was seen last, with all attempts that were ever seen. Absent for synchronous calls. */
  readonly entry?: CallEntry;
  /** What the record was before each redrive, oldest first. */
  readonly earlier?: readonly EarlierEntry[];
  readonly sync?: AnsweredCall;
}

/** A call as the history keeps it. */
export interface HistoryCall {
  readonly row: CallRow;
  readonly details: CallDetails;
}
