import { formatDuration } from "../../../api/duration.ts";
import type { CallRecord } from "../../../api/schemas/call-record.ts";

/** Something that happened to a call, or will. */
export interface CallEvent {
  /** RFC 3339; undefined for what has no time. */
  readonly at: string | undefined;
  readonly event: string;
  readonly detail: string;
}

type Attempt = CallRecord["attempts"][number];

/** What a call record says of its life, in order. */
export function callTimeline(record: CallRecord): readonly CallEvent[] {
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

/** How long after `start` a time is, as in `+0.020s`, `+1m20s`; both RFC 3339. */
export function offsetText(start: string, at: string | undefined): string {
  const milliseconds = Date.parse(at ?? "") - Date.parse(start);
  if (Number.isNaN(milliseconds)) return "";
  const length = Math.abs(milliseconds);
  const text = length < 60_000 ? `${(length / 1_000).toFixed(3)}s` : formatDuration(Math.round(length / 1_000) * 1_000);
  return `${milliseconds < 0 ? "-" : "+"}${text}`;
}

function attemptText({ endedAt, status, durationSeconds, error }: Attempt, state: CallRecord["state"]): string {
  if (endedAt === undefined) return state === "running" ? "runs" : "its end is not known";
  const outcome = status === undefined ? (error ?? "no reply") : `status ${status}`;
  const took = durationSeconds === undefined ? "" : ` after ${durationSeconds.toFixed(3)}s`;
  return status !== undefined && error !== undefined ? `${outcome}${took}: ${error}` : `${outcome}${took}`;
}
