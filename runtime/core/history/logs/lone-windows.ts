import type { CallHistory } from "../../ports/call-history.ts";
import type { HistoryCall } from "../history-row.ts";
import { rollupSteps } from "../rollups/rollup.ts";
import { callRuns, mayHaveRunAt, mayOverlap, runsEndedWithin, type CallRun, type RunWindow } from "./call-windows.ts";

/** What of the history shows which calls a function had. */
export type LoneReads = Pick<CallHistory, "list" | "get" | "rollups">;

/** A run, and the time in which its replica had no other request; undefined: there is none. */
export interface MatchedRun extends CallRun {
  readonly alone: RunWindow | undefined;
}

/** Runs that are looked at, the last ones: each costs a look at the other calls. */
const mostRuns = 8;
/** Calls that are looked at for each run; of a busier function it is not known which line belongs to which call. */
const mostCalls = 500;
/** Calls whose runs are looked at one by one. */
const mostOverlapping = 16;
/** Milliseconds before a window in which calls that overlap it may have been accepted. */
const longestOverlap = 3_600_000;
/** Milliseconds after the end of a run: what a process writes last is read a moment later than its reply. */
export const lastWords = 500;
const { length } = rollupSteps["10s"];

/** The runs of a call, the last of them with the time in which they were alone. `now` is Unix milliseconds. */
export async function matchRuns(reads: LoneReads, call: HistoryCall, now: number): Promise<readonly MatchedRun[]> {
  const runs = callRuns(call, now);
  const matched: MatchedRun[] = runs.slice(0, -mostRuns).map((run) => ({ ...run, alone: undefined }));
  for (const run of runs.slice(-mostRuns)) matched.push({ ...run, alone: await loneWindow(reads, call, run, now) });
  return matched;
}

async function loneWindow(
  reads: LoneReads,
  call: HistoryCall,
  run: CallRun,
  now: number,
): Promise<RunWindow | undefined> {
  const { from, to } = run.window;
  for (const window of [{ from, to: to + lastWords }, run.window])
    if (await isLone(reads, call, { ...run, window }, now)) return window;
  return undefined;
}

/**
 * Whether no other call ran at the replica of a run within its window, as far as the history knows; at any replica if
 * that of the run is not known.
 */
async function isLone(
  reads: LoneReads,
  call: HistoryCall,
  { window, replica }: CallRun,
  now: number,
): Promise<boolean> {
  const { namespace, name, id } = call.row;
  const counted = { from: window.from - (window.from % length), to: Math.ceil(window.to / length) * length };
  const filter = { function: { namespace, name }, since: window.from - longestOverlap, until: counted.to };
  const [page, series] = await Promise.all([
    reads.list({ filter, limit: mostCalls }),
    reads.rollups({ functions: [{ namespace, name }], step: "10s", since: counted.from, until: counted.to }),
  ]);
  if (page.next !== undefined) return false;
  const others = page.rows.filter((row) => row.id !== id);
  // Most synchronous calls have no row, but are counted.
  const known = others.filter(({ ended }) => ended !== null && ended >= counted.from && ended < counted.to);
  const runs = known.reduce((sum, { retries }) => sum + 1 + retries, runsEndedWithin(call, counted));
  const calls = series.flatMap((one) => one.calls).reduce<number>((sum, count) => sum + (count ?? 0), 0);
  if (calls > runs) return false;
  const overlapping = others.filter((row) => mayOverlap(row, window));
  if (overlapping.length > mostOverlapping) return false;
  const seen = await Promise.all(overlapping.map((row) => reads.get(row.id)));
  // One that was removed meanwhile may have been anywhere.
  return seen.every((other) => other !== undefined && !mayHaveRunAt(other, replica, window, now));
}
