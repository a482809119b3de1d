import type { CallRecord } from "../../../api/schemas/call-record.ts";
import type { CallEvent } from "./call-events.ts";

type Attempt = CallRecord["attempts"][number];

/** What a call record says of its life, in order. */
export function recordEvents(record: CallRecord): readonly CallEvent[] {
  const { acceptedAt, attempts, endedAt, nextAttemptAt, queue, reason, state } = record;
  const missing = (attempts[0]?.number ?? 1) - 1;
  return [
    { at: acceptedAt, event: "accepted", detail: `queue "${queue}"` },
    ...(missing === 0 ? [] : [{ at: undefined, event: "…", detail: `${missing} earlier runs are no longer listed` }]),
    ...attempts.map((attempt) => ({
      at: attempt.startedAt,
      event: `run ${attempt.number}`,
      detail: attemptText(attempt, state),
    })),
    ...(nextAttemptAt === undefined
      ? []
      : [{ at: nextAttemptAt, event: `run ${(attempts.at(-1)?.number ?? 0) + 1}`, detail: "is due" }]),
    ...(endedAt === undefined ? [] : [{ at: endedAt, event: state, detail: reason ?? "" }]),
  ];
}

function attemptText({ endedAt, status, durationSeconds, error }: Attempt, state: CallRecord["state"]): string {
  if (endedAt === undefined) return state === "running" ? "runs" : "its end is not known";
  const outcome = status === undefined ? (error ?? "no reply") : `status ${status}`;
  const took = durationSeconds === undefined ? "" : ` after ${durationSeconds.toFixed(3)}s`;
  return status !== undefined && error !== undefined ? `${outcome}${took}: ${error}` : `${outcome}${took}`;
}
