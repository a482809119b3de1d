import type { StderrTail } from "../../../api/schemas/history/call-attempt-detail.ts";
import type { KeptLine, KeptLogs } from "../../ports/kept-logs.ts";
import type { HistoryCall } from "../history-row.ts";
import { isOfAnother, type LineMatch } from "./call-lines.ts";
import { lastWords, type MatchedRun } from "./lone-windows.ts";

/** Most bytes of the lines of one tail, with their newlines. */
const mostBytes = 2_048;
/** Ends a line that is longer than that. */
const cut = "…";
/** The last lines of a run that are looked at: what went to standard output is among them. */
const mostLines = 1_000;
/** Failed runs that are looked at, the last ones. */
const mostRuns = 8;

/**
 * The last lines that a function wrote to standard error during each failed run of a queued call, by the number of the
 * attempt. Where the output of a line is not known, it counts. Runs without such lines are left out.
 */
export async function findAttemptTails(
  kept: KeptLogs,
  call: HistoryCall,
  runs: readonly MatchedRun[],
): Promise<ReadonlyMap<number, StderrTail>> {
  const tails = new Map<number, StderrTail>();
  if (call.row.kind === "sync") return tails;
  const failed = [...runs.entries()].filter(([, { hasFailed }]) => hasFailed);
  for (const [index, run] of failed.slice(-mostRuns)) {
    const next = runs[index + 1]?.window.from ?? Number.POSITIVE_INFINITY;
    const written = await errorLines(kept, call, run, next);
    const lines = lastThatFit(written);
    if (lines.length > 0) tails.set(run.number, { lines, match: matchOf(run, written) });
  }
  return tails;
}

function matchOf({ alone }: MatchedRun, lines: readonly KeptLine[]): LineMatch {
  if (lines.every((line) => line.call !== undefined)) return "tagged";
  return alone === undefined ? "text" : "window";
}

/**
 * What went to standard error; of a run that was not alone, the lines with the id of its call, before the next run at
 * `next`.
 */
async function errorLines(
  kept: KeptLogs,
  call: HistoryCall,
  run: MatchedRun,
  next: number,
): Promise<readonly KeptLine[]> {
  const { namespace, name, id } = call.row;
  const { alone, replica, window } = run;
  const { from: since, to: until } = alone ?? { from: window.from, to: Math.min(window.to + lastWords, next) };
  const { lines } = await kept.lines({
    namespace,
    name,
    since,
    until,
    ...(replica === undefined ? {} : { instance: replica }),
    ...(alone === undefined ? { containing: id } : {}),
    newest: true,
    limit: mostLines,
  });
  const isOfOne = lines.every(({ instance }) => instance === lines[0]?.instance);
  // Without the replica it is not known whose lines they are, unless one alone wrote.
  if (alone !== undefined && !isOfOne) return [];
  return lines.filter((line) => line.stream !== "stdout" && !isOfAnother(line, id));
}

/** The last whole lines, without their newlines; of a longer one its begin. */
function lastThatFit(lines: readonly KeptLine[]): string[] {
  const fitting: string[] = [];
  let left = mostBytes;
  for (const { text } of lines.toReversed()) {
    const line = text.trimEnd();
    left -= Buffer.byteLength(line) + 1;
    if (left < 0) return fitting.length > 0 ? fitting : [beginOf(line)];
    fitting.unshift(line);
  }
  return fitting;
}

function beginOf(line: string): string {
  const bytes = Buffer.from(line);
  let end = mostBytes - Buffer.byteLength(cut) - 1;
  // Not within a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString("utf8", 0, end) + cut;
}
