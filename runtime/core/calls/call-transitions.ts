import { boundedAttempts } from "./call-attempts.ts";
import { callPrincipal } from "./call-principal.ts";
import type { CallAttempt, CallEntry, DeadReason, FailureReason, PendingStep, UnstampedEntry } from "./call-entry.ts";
import type { QueuedCall } from "./call.ts";

/** The record of a call that was just accepted (step G2). */
export function acceptedEntry(
  call: QueuedCall,
  facts: { readonly digest: string; readonly maxRetries: number },
): UnstampedEntry {
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
    redrives: 0,
  };
}

/** Step W2: `owner` claims the call; a takeover counts one run as lost. */
export function claimedEntry(
  entry: CallEntry,
  facts: { readonly owner: string; readonly takeover: boolean; readonly now: number; readonly maxRetries: number },
): CallEntry {
  const run = entry.run + 1;
  return {
    ...entry,
    state: "running",
    run,
    owner: facts.owner,
    lost: entry.lost + (facts.takeover ? 1 : 0),
    next: null,
    maxRetries: facts.maxRetries,
    attempts: boundedAttempts([
      ...closeAttempt(entry, facts.takeover ? { endedAt: facts.now, error: "the queue-worker was lost" } : {}),
      { number: run, startedAt: facts.now },
    ]),
  };
}

/** Outcome of the run that ends. Times are Unix milliseconds. */
export interface RunEnd {
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
    attempts: closeAttempt(entry, runEnd(end)),
  };
}

/** The worker stops and hands the call back; the run counts neither as retry nor as lost. */
export function handedBackEntry(entry: CallEntry, now: number): CallEntry {
  return {
    ...entry,
    state: "queued",
    owner: null,
    attempts: closeAttempt(entry, { endedAt: now, error: "the queue-worker stopped" }),
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

const deadReasons: ReadonlySet<FailureReason> = new Set<DeadReason>(["exhausted", "crash", "expired", "undecodable"]);

/** Whether a call that failed for this reason becomes a dead letter. */
export function isDeadReason(reason: FailureReason | null): reason is DeadReason {
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
    attempts: entry.state === "running" ? closeAttempt(entry, { endedAt: now, error: "cancelled" }) : entry.attempts,
  };
}

/** A failed call is queued again: counters restart at 0, but `run` continues, so that run numbers stay unique. */
export function redrivenEntry(entry: CallEntry, redrives: number): CallEntry {
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
  };
}

/** The callback of an ended call is to be sent again, in a new window. */
export function callbackRedrivenEntry(entry: CallEntry, redrives: number): CallEntry {
  return { ...entry, callback: pendingAgain(entry.callback), redrives };
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
    duration: end.duration,
    ...(end.error === undefined ? {} : { error: end.error }),
  };
}

function closeAttempt(entry: CallEntry, facts: Partial<CallAttempt>): readonly CallAttempt[] {
  const last = entry.attempts.at(-1);
  if (last === undefined || last.endedAt !== undefined || facts.endedAt === undefined) return entry.attempts;
  return boundedAttempts([...entry.attempts.slice(0, -1), { ...last, ...facts }]);
}
