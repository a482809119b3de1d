import type { KeptLine, KeptLogs } from "../../ports/kept-logs.ts";
import type { HistoryCall } from "../history-row.ts";
import type { RunWindow } from "./call-windows.ts";
import type { MatchedRun } from "./lone-windows.ts";
import { readKeptLines } from "./read-kept-lines.ts";

/**
 * Why a line belongs to a call: its tag names it, its id stands in it, or it was written while the replica had no other
 * request.
 */
export type LineMatch = "tagged" | "text" | "window";

export interface CallLine {
  readonly line: KeptLine;
  readonly match: LineMatch;
}

/** Milliseconds after its last run for which a call may still be named. */
const namedFor = 60_000;

/** The kept lines of a call, by its runs, in the order of their times, at most `limit`. */
export async function findCallLines(
  kept: KeptLogs,
  { row: { namespace, name, id } }: HistoryCall,
  runs: readonly MatchedRun[],
  limit: number,
): Promise<readonly CallLine[]> {
  const first = runs[0]?.window;
  const last = runs.at(-1)?.window;
  if (first === undefined || last === undefined) return [];
  const found = new Map<number, CallLine>();
  const add = async (lines: AsyncIterable<KeptLine>, match: LineMatch): Promise<void> => {
    for await (const line of lines) {
      if (isOfAnother(line, id) || found.has(line.place[2])) continue;
      found.set(line.place[2], { line, match: line.call === undefined ? match : "tagged" });
      if (found.size >= limit) return;
    }
  };
  const named = { namespace, name, since: first.from, until: last.to + namedFor, containing: id };
  await add(readKeptLines(kept, named), "text");
  for (const { alone, replica } of runs) {
    if (found.size >= limit) break;
    if (alone !== undefined) await add(linesOfRun(kept, { namespace, name }, replica, alone), "window");
  }
  return [...found.values()].sort((one, other) => comparePlaces(one.line, other.line));
}

/** Whether its tag names another call. */
export function isOfAnother({ call }: KeptLine, id: string): boolean {
  return call !== undefined && call !== id;
}

/** The lines of a replica in a window; if it is not known, those of the one that wrote, if one alone did. */
async function* linesOfRun(
  kept: KeptLogs,
  ref: { readonly namespace: string; readonly name: string },
  replica: string | undefined,
  { from, to }: RunWindow,
): AsyncGenerator<KeptLine> {
  const range = { ...ref, since: from, until: to, ...(replica === undefined ? {} : { instance: replica }) };
  const lines: KeptLine[] = [];
  for await (const line of readKeptLines(kept, range)) {
    // Others may have written theirs for no request.
    if (lines[0] !== undefined && lines[0].instance !== line.instance) return;
    lines.push(line);
    if (lines.length >= mostOfWindow) break;
  }
  yield* lines;
}

const mostOfWindow = 10_000;

function comparePlaces({ place: one }: KeptLine, { place: other }: KeptLine): number {
  return one[0] - other[0] || one[1] - other[1] || one[2] - other[2];
}
