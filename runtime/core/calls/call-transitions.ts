import { boundedAttempts, maxReplicaBytes, shortError } from "./call-attempts.ts";
import { callPrincipal } from "./call-principal.ts";
import type { CallAttempt, CallEntry, DeadReason, FailureReason, PendingStep, UnstampedEntry } from "./call-entry.ts";
import type { QueuedCall } from "./call.ts";

/** What a record says of a call beside what its queue holds. */
export interface AcceptFacts {
  readonly digest: string;
  readonly maxRetries: number;
  /** The call that it replays. */
  readonly replayOf?: string;
}

/** The record of a call that was just accepted (step G2). */
export function acceptedEntry(call: QueuedCall, facts: AcceptFacts): UnstampedEntry {
  const principal = callPrincipal(call.headers);
  return {
    v: 2,
    state: "queued",
    queue: call.queue,
    namespace: call.function.namespace,
    function: call.function.name,
    digest: facts.digest,
    accepted: call.start.toString(),
    run: 0,
    retries: 0,
    lost: 0,
    owner: null,
    next: null,
    attempts: [],
    ended: null,
    reason: null,
    status: null,
    result: null,
    pending: [],
    callback: call.callbackUrl === undefined ? null : { url: call.callbackUrl, state: "pending", attempts: 0 },
    maxRetries: facts.maxRetries,
    parent: call.parentId ?? null,
    ...(principal === undefined ? {} : { principal }),
    ...(facts.replayOf === undefined ? {} : { replayOf: facts.replayOf, source: "replay" as const }),
    redrives: 0,
  };
}

/** Errors of runs that were cut off; such a run has no status. */
export const cutRun = {
  lost: "the queue-worker was lost",
  handedBack: "the queue-worker stopped",
  cancelled: "cancelled",
} as const;

/** Errors of calls that are given up without a run: the last run was lost once too often, or the call is too old. */
export const givenUpRun = { crash: "crash", expired: "expired" } as const;

/** A claim of a call. `worker` names the process that makes it. */
export interface ClaimFacts {
  readonly owner: string;
  readonly takeover: boolean;
  readonly now: number;
  readonly maxRetries: number;
  readonly worker?: string;
}

/** Step W2: `owner` claims the call; a takeover counts one run as lost. */
export function claimedEntry(entry: CallEntry, facts: ClaimFacts): CallEntry {
  const run = entry.run + 1;
  return {
    ...entry,
    state: "running",
    run,
    owner: facts.owner,
    lost: entry.lost + (facts.takeover ? 1 : 0),
    next: null,
    // Set when it was taken for a call that its queue does not hold.
    ended: null,
    reason: null,
    callback: entry.reason === "not_stored" ? pendingAgain(entry.callback) : entry.callback,
    maxRetries: facts.maxRetries,
    attempts: boundedAttempts([
      ...closeAttempt(entry, facts.takeover ? { endedAt: facts.now, error: cutRun.lost } : {}),
      { number: run, startedAt: facts.now, ...(facts.worker === undefined ? {} : { worker: facts.worker }) },
    ]),
  };
}

/** Where a run was. */
export interface RunPlace {
  readonly replica?: string | undefined;
  /** Milliseconds that it waited for a replica to start. */
  readonly coldStart?: number | undefined;
}

/** Outcome of the run that ends. Times are Unix milliseconds. */
export interface RunEnd extends RunPlace {
  readonly now: number;
  readonly status: number;
  readonly duration: number;
  readonly error: string | undefined;
}

/** Step W4: the call waits for its next retry. */
export function waitingEntry(entry: CallEntry, end: RunEnd, next: number): CallEntry {
  return {
    ...entry,
    state: "waiting",
    owner: null,
    retries: entry.retries + 1,
    next,
    status: end.status,
    attempts: closeAttempt(entry, { ...runEnd(end), next }),
  };
}

/** The worker stops and hands the call back; the run counts neither as retry nor as lost. */
export function handedBackEntry(entry: CallEntry, now: number, place: RunPlace = {}): CallEntry {
  return {
    ...entry,
    state: "queued",
    owner: null,
    attempts: closeAttempt(entry, { endedAt: now, error: cutRun.handedBack, ...placeFacts(place) }),
  };
}

/** How a call ends. */
export type CallEnd =
  | { readonly state: "done"; readonly end: RunEnd; readonly result: CallEntry["result"] }
  | {
      readonly state: "failed";
      readonly end: RunEnd;
      readonly reason: FailureReason;
      readonly result: CallEntry["result"];
    };

const deadReasons: ReadonlySet<string> = new Set<DeadReason>(["exhausted", "crash", "expired", "undecodable"]);

/** Whether a call that failed for this reason becomes a dead letter. */
export function isDeadReason(reason: string | null): reason is DeadReason {
  return reason !== null && deadReasons.has(reason);
}

/** Step W7: the call has ended; `pending` says what must be published before it is settled. */
export function endedEntry(entry: CallEntry, end: CallEnd): CallEntry {
  const reason = end.state === "failed" ? end.reason : null;
  const pending: PendingStep[] = [];
  if (entry.callback !== null) pending.push("callback");
  if (isDeadReason(reason)) pending.push("dead-letter");
  return {
    ...entry,
    state: end.state,
    owner: null,
    next: null,
    reason,
    status: end.end.status,
    result: end.result,
    ended: end.end.now,
    pending,
    attempts: entry.state === "running" ? closeAttempt(entry, runEnd(end.end)) : entry.attempts,
  };
}

/**
 * A call that its queue does not hold has ended: no queue-worker gets it. There is no message to make a callback of. A
 * queue-worker that gets it all the same claims it, and its client may send it again.
 */
export function notStoredEntry(entry: CallEntry, now: number): CallEntry {
  return {
    ...entry,
    state: "failed",
    owner: null,
    next: null,
    ended: now,
    reason: "not_stored",
    pending: [],
    callback: entry.callback === null ? null : { ...entry.callback, state: "failed", error: notStoredError },
    attempts: entry.state === "running" ? closeAttempt(entry, { endedAt: now, error: cutRun.lost }) : entry.attempts,
  };
}

const notStoredError = "the queue does not hold the call";

/** Cancelled on request: no run starts any more, and no callback is sent. The worker that gets its message drops it. */
export function cancelledEntry(entry: CallEntry, now: number): CallEntry {
  return {
    ...entry,
    state: "cancelled",
    owner: null,
    next: null,
    ended: now,
    pending: ["message"],
    callback: null,
    attempts:
      entry.state === "running" ? closeAttempt(entry, { endedAt: now, error: cutRun.cancelled }) : entry.attempts,
  };
}

/**
 * A failed call is queued again at `now`: counters restart at 0, but `run` continues, so that run numbers stay unique.
 */
export function redrivenEntry(entry: CallEntry, redrives: number, now: number): CallEntry {
  return {
    ...entry,
    state: "queued",
    retries: 0,
    lost: 0,
    owner: null,
    next: null,
    ended: null,
    reason: null,
    status: null,
    result: null,
    pending: [],
    callback: pendingAgain(entry.callback),
    redrives,
    redriven: now,
  };
}

/** The callback of an ended call is to be sent again from `now` on, in a new window. */
export function callbackRedrivenEntry(entry: CallEntry, redrives: number, now: number): CallEntry {
  return {
    ...entry,
    callback: pendingAgain(entry.callback),
    redrives,
    redriven: now,
  };
}

function pendingAgain(callback: CallEntry["callback"]): CallEntry["callback"] {
  return callback === null ? null : { url: callback.url, state: "pending", attempts: 0 };
}

/** Whether the record must be kept longer than usual: the call has not ended, or a step or its callback is pending. */
export function isOpen(entry: UnstampedEntry): boolean {
  return entry.ended === null || entry.pending.length > 0 || entry.callback?.state === "pending";
}

function runEnd(end: RunEnd): Partial<CallAttempt> {
  return {
    endedAt: end.now,
    status: end.status,
    duration: Math.round(end.duration * 1_000) / 1_000,
    ...(end.error === undefined ? {} : { error: end.error }),
    ...placeFacts(end),
  };
}

function placeFacts({ replica, coldStart }: RunPlace): Pick<CallAttempt, "replica" | "coldStart"> {
  return {
    ...(replica === undefined ? {} : { replica: shortError(replica, maxReplicaBytes) }),
    ...(coldStart === undefined ? {} : { coldStart: Math.round(coldStart) }),
  };
}

function closeAttempt(entry: CallEntry, facts: Partial<CallAttempt>): readonly CallAttempt[] {
  const last = entry.attempts.at(-1);
  if (last === undefined || last.endedAt !== undefined || facts.endedAt === undefined) return entry.attempts;
  return boundedAttempts([...entry.attempts.slice(0, -1), { ...last, ...facts }]);
}
