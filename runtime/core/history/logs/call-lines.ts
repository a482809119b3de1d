import type { CallHistory } from "../../ports/call-history.ts";
import type { KeptLine, KeptLogs } from "../../ports/kept-logs.ts";
import type { HistoryCall } from "../history-row.ts";
import { runWindows, type RunWindow } from "./call-windows.ts";
import { isLone } from "./lone-windows.ts";
import { readKeptLines } from "./read-kept-lines.ts";

/** Why a line belongs to a call: its id stands in it, or it was written while the function had no other request. */
export type LineMatch = "text" | "window";

export interface CallLine {
  readonly line: KeptLine;
  readonly match: LineMatch;
}

export interface CallLineParts {
  readonly kept: KeptLogs;
  readonly history: Pick<CallHistory, "list" | "rollups">;
}

/** Milliseconds after its last run for which a call may still be named. */
const namedFor = 60_000;
/** Runs whose windows are looked at, the last ones: each costs a look at the other calls. */
const mostWindows = 8;

/** The kept lines of a call in the order of their times, at most `limit`. `now` is Unix milliseconds. */
export async function findCallLines(
  { kept, history }: CallLineParts,
  call: HistoryCall,
  { now, limit }: { readonly now: number; readonly limit: number },
): Promise<readonly CallLine[]> {
  const windows = runWindows(call, now);
  const [first] = windows;
  const last = windows.at(-1);
  if (first === undefined || last === undefined) return [];
  const { namespace, name, id } = call.row;
  const found = new Map<number, CallLine>();
  const add = async (lines: AsyncIterable<KeptLine>, match: LineMatch): Promise<void> => {
    for await (const line of lines) {
      if (!found.has(line.place[2])) found.set(line.place[2], { line, match });
      if (found.size >= limit) return;
    }
  };
  const named = { namespace, name, since: first.from, until: last.to + namedFor, containing: id };
  await add(readKeptLines(kept, named), "text");
  for (const window of windows.slice(-mostWindows)) {
    if (found.size >= limit) break;
    if (await isLone(history, call, window)) await add(linesOfOneReplica(kept, { namespace, name }, window), "window");
  }
  return [...found.values()].sort((one, other) => comparePlaces(one.line, other.line));
}

/** The lines of a window, if one replica alone wrote them: others may have written theirs for no request. */
async function* linesOfOneReplica(
  kept: KeptLogs,
  ref: { readonly namespace: string; readonly name: string },
  { from, to }: RunWindow,
): AsyncGenerator<KeptLine> {
  const lines: KeptLine[] = [];
  for await (const line of readKeptLines(kept, { ...ref, since: from, until: to })) {
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
