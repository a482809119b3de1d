import type { CallRow, HistoryCall } from "../history-row.ts";

/** A time in which a run of a call wrote its lines, Unix milliseconds; `to` is exclusive. */
export interface RunWindow {
  readonly from: number;
  readonly to: number;
}

/** One run of a call, as far as its lines are concerned. */
export interface CallRun {
  /** Of the attempt; 1 for a synchronous call. */
  readonly number: number;
  readonly window: RunWindow;
  /** Where it ran, by the name that its lines have; undefined if it is not known. */
  readonly replica: string | undefined;
  /** It has ended, and not well. */
  readonly hasFailed: boolean;
}

/** The runs of a call, in order; one that has not ended ends now. */
export function callRuns({ row, details }: HistoryCall, now: number): readonly CallRun[] {
  const { entry, sync } = details;
  if (sync !== undefined) {
    const { startedAt, duration, replica, status } = sync;
    const window = windowOf(startedAt, startedAt + duration);
    return [{ number: 1, window, replica: nameOf(replica), hasFailed: isFailure(status) }];
  }
  const attempts = entry?.attempts ?? [];
  return attempts.map(({ number, startedAt, endedAt, replica, status, error }, index) => ({
    number,
    window: windowOf(startedAt, endedAt ?? attempts[index + 1]?.startedAt ?? row.ended ?? now),
    replica: nameOf(replica),
    hasFailed: endedAt !== undefined && (error !== undefined || isFailure(status)),
  }));
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

/** Whether a call may have run within a window at a replica; of undefined, at any. */
export function mayHaveRunAt(
  call: HistoryCall,
  replica: string | undefined,
  { from, to }: RunWindow,
  now: number,
): boolean {
  const { entry } = call.details;
  // Of a call that ran very often, not all runs are kept.
  if (entry !== undefined && entry.attempts.length < entry.run) return true;
  return callRuns(call, now).some(
    (run) =>
      run.window.from < to &&
      run.window.to > from &&
      (replica === undefined || run.replica === undefined || run.replica === replica),
  );
}

/** The name of a replica. Earlier releases noted the address, which is of no use to find its lines. */
function nameOf(replica: string | undefined): string | undefined {
  return replica?.includes(":") === true ? undefined : replica;
}

function isFailure(status: number | undefined): boolean {
  return status === undefined || status >= 400;
}

function windowOf(from: number, to: number): RunWindow {
  // A line of the last millisecond belongs to it.
  return { from: Math.floor(from), to: Math.ceil(Math.max(from, to)) + 1 };
}
