import type { CallState } from "../../api/schemas/call-record.ts";

/** One run of a call. Times are Unix milliseconds. */
export interface CallAttempt {
  readonly number: number;
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly status?: number;
  /** Milliseconds of the function's own time. */
  readonly duration?: number;
  readonly error?: string;
  /** The process that claimed it: host name and process id. */
  readonly worker?: string;
  /**
   * The replica it was sent to, by the name that its log has; its address if that was not known, and in records of
   * earlier releases. Unknown until the run has ended, and for runs through the gateway.
   */
  readonly replica?: string;
  /** Milliseconds that the run waited for a replica to start. */
  readonly coldStart?: number;
  /** When the retry after it was due. */
  readonly next?: number;
}

/** Where a call came from. */
export type CallSource = "http" | "replay";

/** Why a call failed. `not_stored`: its queue does not hold it; if it does all the same, the call is run. */
export type FailureReason =
  | "rejected"
  | "exhausted"
  | "crash"
  | "expired"
  | "undecodable"
  | "function_not_found"
  | "not_stored";

/** Why a call became a dead letter. */
export type DeadReason = Exclude<FailureReason, "rejected" | "function_not_found" | "not_stored">;

/** One attempt to send a callback. */
export interface CallbackTry {
  /** Counted from 1. */
  readonly number: number;
  /** When it began, Unix milliseconds. */
  readonly at: number;
  readonly status?: number;
  /** How long it took, milliseconds. */
  readonly ms: number;
  /** Why it failed. */
  readonly error?: string;
}

/** A callback as the record keeps it. */
export interface CallbackState {
  readonly url: string;
  readonly state: "pending" | "sent" | "failed";
  readonly attempts: number;
  readonly status?: number;
  /** Why the last attempt failed. */
  readonly error?: string;
  /** When the next attempt is due, Unix milliseconds. */
  readonly next?: number;
  /** First attempt, Unix milliseconds. */
  readonly first?: number;
  /** Unix milliseconds; no attempt is made or recorded later, so the outcome of one still pending then was lost. */
  readonly until?: number;
  /** The last attempts, oldest first; absent in records of earlier releases. */
  readonly tries?: readonly CallbackTry[];
}

/** Who sent a call of a function that asks for its caller. */
export interface CallPrincipal {
  /** As the audit names it: `fed:` and the subject at its issuer, or `admin`. */
  readonly subject: string;
  /** Absent for the administrator. */
  readonly issuer?: string;
}

/**
 * What is still to be done after the end was recorded (steps W7 to W9): publish the callback, publish the dead letter,
 * or drop the message of a cancelled call, which may still be in its queue.
 */
export type PendingStep = "callback" | "dead-letter" | "message";

/**
 * The record of one asynchronous call, its source of truth. Every change is a compare-and-set on its revision.
 * Times are Unix milliseconds unless said otherwise.
 */
export interface CallEntry {
  /** Version of the record format. */
  readonly v: 2;
  readonly state: CallState;
  readonly queue: string;
  readonly namespace: string;
  readonly function: string;
  /** Digest of namespace, function, path, query, callback URL, principal and body: whether the same id is the same call. */
  readonly digest: string;
  /** Acceptance, Unix nanoseconds as decimal text. */
  readonly accepted: string;
  /** Claims so far. */
  readonly run: number;
  /** Retries so far: retryable answers, not crashes or hand-backs. */
  readonly retries: number;
  /** Runs whose worker was lost. */
  readonly lost: number;
  /** Random per claim; a worker that holds another value has lost the call. */
  readonly owner: string | null;
  /** When a waiting call is due. */
  readonly next: number | null;
  readonly attempts: readonly CallAttempt[];
  readonly ended: number | null;
  readonly reason: FailureReason | null;
  /** Last status of the function, or the one that stands for a missing response. */
  readonly status: number | null;
  /** The output of the last run, if it was kept. `ttl` in milliseconds. */
  readonly result: {
    readonly run: number;
    readonly size: number;
    readonly stored: boolean;
    readonly ttl: number;
  } | null;
  readonly pending: readonly PendingStep[];
  readonly callback: CallbackState | null;
  readonly maxRetries: number;
  readonly parent: string | null;
  /** Who sent the call; absent if its function does not ask, and in records of earlier releases. */
  readonly principal?: CallPrincipal;
  /** The call that this one replays. */
  readonly replayOf?: string;
  /** Absent = by HTTP. */
  readonly source?: CallSource;
  /** When it was redriven last, Unix milliseconds; absent in records of earlier releases. */
  readonly redriven?: number;
  /** When the record expires; the ledger stamps it with each write. */
  readonly expires: number;
  readonly redrives: number;
}

/** Parses a record, also of version 1, which had the pending steps under the name `owes`. */
export function parseCallEntry(json: string): CallEntry {
  const read: CallEntry & { readonly owes?: readonly PendingStep[] } = JSON.parse(json);
  if (read.owes === undefined) return read;
  const { owes, ...entry } = read;
  return { ...entry, v: 2, pending: owes };
}

/** A record as it is passed to the ledger. */
export type UnstampedEntry = Omit<CallEntry, "expires"> & Partial<Pick<CallEntry, "expires">>;
