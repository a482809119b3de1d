import type { TimelineStep } from "../../api/schemas/history/timeline-step.ts";
import type { CallAttempt, CallEntry } from "../calls/call-entry.ts";
import { cutRun, givenUpRun } from "../calls/call-transitions.ts";
import { timelineStep } from "./timeline-step-at.ts";

/** What became of a run. */
type RunFate = "open" | "lost" | "handedBack" | "cancelled" | "final" | "retried";

/**
 * What happened in one run. `attempts` are all of its epoch, `entry` is the record at the end of that; undefined if it
 * was never seen.
 */
export function attemptSteps(
  attempt: CallAttempt,
  attempts: readonly CallAttempt[],
  entry: CallEntry | undefined,
): readonly TimelineStep[] {
  const { number, startedAt, endedAt = startedAt, worker, replica, error, status, duration } = attempt;
  const steps = [timelineStep("taken", startedAt, { attempt: number, worker })];
  if (isStarted(attempt)) steps.push(timelineStep("started", sentAt(attempt), { attempt: number, replica }));
  if (isAnswered(attempt))
    steps.push(timelineStep("answered", endedAt, { attempt: number, replica, status, ms: duration }));
  const fate = fateOf(attempt, attempts, entry);
  switch (fate) {
    case "open":
    case "final":
    // The end of the call tells.
    case "cancelled":
      return steps;
    case "lost":
    case "handedBack":
      return [...steps, timelineStep(fate, endedAt, { attempt: number, worker, reason: reasonOf(attempt) })];
    case "retried": {
      const next = attempt.next ?? (attempt === attempts.at(-1) ? (entry?.next ?? undefined) : undefined);
      const unanswered = isAnswered(attempt) ? {} : { replica, status, ms: duration };
      // A run that was cut off has no status; a record that is too long leaves out its error.
      const reason = error ?? (status === undefined ? undefined : `answered ${status}`);
      return [...steps, timelineStep("retry", endedAt, { attempt: number, ...unanswered, reason, next })];
    }
    default:
      return fate satisfies never;
  }
}

/** The run that ended the call, if one did. */
export function finalAttempt(attempts: readonly CallAttempt[], entry: CallEntry): CallAttempt | undefined {
  const last = attempts.at(-1);
  return last !== undefined && fateOf(last, attempts, entry) === "final" ? last : undefined;
}

function fateOf(attempt: CallAttempt, attempts: readonly CallAttempt[], entry: CallEntry | undefined): RunFate {
  const { endedAt, status, error } = attempt;
  if (endedAt === undefined) return "open";
  if (status === undefined) {
    if (error === cutRun.lost) return "lost";
    if (error === cutRun.handedBack) return "handedBack";
    if (error === cutRun.cancelled) return "cancelled";
  }
  if (attempt !== attempts.at(-1)) return "retried";
  // Nothing shows what followed.
  if (entry === undefined) return "final";
  if (entry.reason === "crash" && error === givenUpRun.crash && endedAt === entry.ended) return "lost";
  const hasEnded = (entry.state === "done" || entry.state === "failed") && entry.reason !== "expired";
  return hasEnded && endedAt === entry.ended ? "final" : "retried";
}

/** Whether the function replied, or something in its place did. */
function isAnswered({ status, error, endedAt }: CallAttempt): boolean {
  return endedAt !== undefined && status !== undefined && error === undefined;
}

/** Runs through the gateway, and those of earlier releases, have no replica. */
function isStarted(attempt: CallAttempt): boolean {
  return attempt.replica !== undefined || isAnswered(attempt);
}

/** When a run was sent to its replica: the function's own time ends with the run. */
function sentAt({ startedAt, endedAt, duration, coldStart = 0 }: CallAttempt): number {
  if (endedAt === undefined || duration === undefined) return startedAt + coldStart;
  return Math.max(startedAt, Math.round(endedAt - duration));
}

function reasonOf({ error }: CallAttempt): string | undefined {
  return error === givenUpRun.crash ? cutRun.lost : error;
}
