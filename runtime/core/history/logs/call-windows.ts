import type { CallRow, HistoryCall } from "../history-row.ts";

/** A time in which a run of a call wrote its lines, Unix milliseconds; `to` is exclusive. */
export interface RunWindow {
  readonly from: number;
  readonly to: number;
}

/** The times in which a call ran, in order; one that has not ended ends now. */
export function runWindows({ row, details }: HistoryCall, now: number): readonly RunWindow[] {
  const { entry, sync } = details;
  if (sync !== undefined) return [windowOf(sync.startedAt, sync.startedAt + sync.duration)];
  const attempts = entry?.attempts ?? [];
  return attempts.map(({ startedAt, endedAt }, index) =>
    windowOf(startedAt, endedAt ?? attempts[index + 1]?.startedAt ?? row.ended ?? now),
  );
}

/** How often a call ended a run within a time. */
export function runsEndedWithin(call: HistoryCall, { from, to }: RunWindow): number {
  const { entry, sync } = call.details;
  const ends =
    sync === undefined ? (entry?.attempts ?? []).map(({ endedAt }) => endedAt) : [sync.startedAt + sync.duration];
  return ends.filter((end) => end !== undefined && end >= from && end < to).length;
}

/** Whether another call may have run within a window, as far as its columns say. */
export function mayOverlap({ accepted, wait, ended, state, kind }: CallRow, { from, to }: RunWindow): boolean {
  const isSync = kind === "sync";
  if (!isSync && wait === null && ended === null && state === "queued") return false;
  // A queued call that waited runs later than it was accepted.
  const begin = isSync ? accepted : accepted + (wait ?? 0);
  return begin < to && (ended ?? Number.POSITIVE_INFINITY) >= from;
}

function windowOf(from: number, to: number): RunWindow {
  // A line of the last millisecond belongs to it.
  return { from: Math.floor(from), to: Math.ceil(Math.max(from, to)) + 1 };
}
