import type { TimelineStep } from "../../api/schemas/history/timeline-step.ts";
import type { CallAttempt, CallEntry, CallbackState } from "../calls/call-entry.ts";
import { isDeadReason } from "../calls/call-transitions.ts";
import { attemptSteps, finalAttempt } from "./attempt-steps.ts";
import { callEpochs, type CallEpoch } from "./call-epochs.ts";
import { acceptedAt } from "./call-row.ts";
import type { HistoryCall, AnsweredCall } from "./history-row.ts";
import { timelineStep } from "./timeline-step-at.ts";

/** What happened to a call as of `now`, Unix milliseconds, in the order in which it happened. */
export function callTimeline({ row, details }: HistoryCall, now: number): readonly TimelineStep[] {
  const { entry, sync } = details;
  if (entry === undefined) return sync === undefined ? [] : syncSteps(sync);
  const accepted = timelineStep("accepted", acceptedAt(entry));
  // The gateway's clock says when a call was accepted, the broker's what followed; they differ by some milliseconds.
  const following = (step: TimelineStep): TimelineStep => (step.at < accepted.at ? { ...step, at: accepted.at } : step);
  return [
    accepted,
    ...callEpochs(details)
      .flatMap((epoch) => epochSteps(epoch, now))
      .map(following),
    ...(row.state === "unknown"
      ? [timelineStep("expired", Math.min(entry.expires, now), { reason: "its record is gone" })]
      : []),
  ];
}

function syncSteps({ startedAt, duration, status, replica, coldStart = 0 }: AnsweredCall): readonly TimelineStep[] {
  const ended = startedAt + duration;
  return [
    timelineStep("accepted", startedAt),
    ...(replica === undefined ? [] : [timelineStep("started", startedAt + coldStart, { replica })]),
    timelineStep("answered", ended, { replica, status, ms: duration }),
    timelineStep("ended", ended, { status }),
  ];
}

function epochSteps({ redriven, callbackOnly, attempts, entry }: CallEpoch, now: number): readonly TimelineStep[] {
  const steps = redriven === undefined ? [] : [timelineStep("redriven", redriven)];
  if (!callbackOnly) {
    steps.push(...attempts.flatMap((attempt) => attemptSteps(attempt, attempts, entry)));
    if (entry !== undefined) steps.push(...endSteps(entry, attempts));
  }
  const callback = entry?.callback ?? null;
  const ended = entry?.ended ?? null;
  if (callback !== null && ended !== null) steps.push(...callbackSteps(callback, ended, now));
  return steps;
}

function endSteps(entry: CallEntry, attempts: readonly CallAttempt[]): readonly TimelineStep[] {
  const { state, ended, reason, pending } = entry;
  if (ended === null) return [];
  const last = attempts.at(-1);
  if (state === "cancelled") {
    const attempt = last?.endedAt === ended && last.status === undefined ? last.number : undefined;
    return [timelineStep("cancelled", ended, { attempt }), timelineStep("ended", ended)];
  }
  const status = entry.status ?? undefined;
  const error = finalAttempt(attempts, entry)?.error;
  const why = reason !== null && error !== undefined ? `${reason}: ${error}` : (reason ?? undefined);
  const steps = reason === "expired" ? [timelineStep("expired", ended)] : [];
  steps.push(timelineStep("ended", ended, { status, reason: why }));
  // The step is pending until the letter is stored.
  if (reason !== null && isDeadReason(reason) && !pending.includes("dead-letter"))
    steps.push(timelineStep("deadLetter", ended, { reason }));
  return steps;
}

function callbackSteps(callback: CallbackState, callEnded: number, now: number): readonly TimelineStep[] {
  const { state, tries = [], status, error, next, until, first } = callback;
  const last = tries.at(-1);
  const steps = tries.map((one) => {
    // The state has the whole error of the last one.
    const reason = one === last && state !== "sent" ? (error ?? one.error) : one.error;
    const due = one === last && state === "pending" ? next : undefined;
    return timelineStep("callbackTry", one.at, {
      attempt: one.number,
      status: one.status,
      ms: one.ms,
      reason,
      next: due,
    });
  });
  const ended = last === undefined ? (first ?? callEnded) : last.at + last.ms;
  switch (state) {
    case "sent":
      return [...steps, timelineStep("callbackEnded", ended, { status })];
    case "failed":
      return [
        ...steps,
        timelineStep("callbackEnded", ended, { status, reason: error }),
        timelineStep("deadLetter", ended, { reason: "callback" }),
      ];
    case "pending":
      return until !== undefined && now > until
        ? [...steps, timelineStep("callbackEnded", until, { reason: "no outcome was recorded" })]
        : steps;
    default:
      return state satisfies never;
  }
}
