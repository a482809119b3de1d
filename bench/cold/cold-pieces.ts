import { alignColumns } from "../align-columns.ts";
import { spreadOf } from "../interleave.ts";

/** The start of a function in Unix milliseconds, as its first reply reports it. */
export interface ColdReport {
  readonly started: number;
  readonly listening: number;
  readonly asked: number;
}

/**
 * One start from zero: the function's report, and when the caller sent the call and had its reply, in Unix
 * milliseconds.
 */
export interface ColdStart extends ColdReport {
  readonly called: number;
  readonly answered: number;
}

/**
 * A function for `node -e` that listens on `$PORT` and replies with its report. It contains no single quotes, so it can
 * be enclosed in them.
 */
export const coldProgram = `
  const started = performance.timeOrigin;
  const now = () => performance.timeOrigin + performance.now();
  let listening = 0;
  require("node:http").createServer((request, response) => {
    response.end(JSON.stringify({ started, listening, asked: now() }));
  }).listen(process.env.PORT, "127.0.0.1", () => { listening = now(); });`;

/** Milliseconds from the call to its reply. */
export function wholeOf({ called, answered }: ColdStart): number {
  return answered - called;
}

const phases: readonly (readonly [what: string, of: (start: ColdStart) => number])[] = [
  ["until the function's own process starts", ({ called, started }) => started - called],
  ["until it listens", ({ started, listening }) => listening - started],
  ["until it is asked", ({ listening, asked }) => asked - listening],
  ["until the answer is here", ({ asked, answered }) => answered - asked],
  ["whole", wholeOf],
];

/** A table of all phases, p50 and p95 in milliseconds; one column per side. */
export function formatColdStarts(sides: Readonly<Record<string, readonly ColdStart[]>>): string {
  const lines = phases.map(([what, of]) => [what, ...Object.values(sides).map((starts) => cell(starts.map(of)))]);
  return alignColumns([["milliseconds, p50 (p95)", ...Object.keys(sides)], ...lines]);
}

function cell(times: readonly number[]): string {
  if (times.length === 0) return "";
  const high = times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.95) - 1] ?? Number.NaN;
  return `${spreadOf(times).median.toFixed(1)} (${high.toFixed(1)})`;
}
