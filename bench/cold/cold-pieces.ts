import { alignColumns } from "../align-columns.ts";
import { spreadOf } from "../interleave.ts";

/** When a function came to life, in Unix milliseconds, as it tells itself in the body of its first answer. */
export interface ColdReport {
  readonly started: number;
  readonly listening: number;
  readonly asked: number;
}

/** One start from zero: the function's own words, and when the caller asked and had its answer, in Unix milliseconds. */
export interface ColdStart extends ColdReport {
  readonly called: number;
  readonly answered: number;
}

/**
 * A function for `node -e` that serves on `$PORT` and answers with its report. It holds no single quotes, so that it can
 * stand between them.
 */
export const coldProgram = `
  const started = performance.timeOrigin;
  const now = () => performance.timeOrigin + performance.now();
  let listening = 0;
  require("node:http").createServer((request, response) => {
    response.end(JSON.stringify({ started, listening, asked: now() }));
  }).listen(process.env.PORT, "127.0.0.1", () => { listening = now(); });`;

/** Now, in Unix milliseconds with a fraction. */
export function preciseNow(): number {
  return performance.timeOrigin + performance.now();
}

/** Milliseconds from the call to its answer. */
export function wholeOf({ called, answered }: ColdStart): number {
  return answered - called;
}

const pieces: readonly (readonly [what: string, of: (start: ColdStart) => number])[] = [
  ["until the function's own process starts", ({ called, started }) => started - called],
  ["until it listens", ({ started, listening }) => listening - started],
  ["until it is asked", ({ listening, asked }) => asked - listening],
  ["until the answer is here", ({ asked, answered }) => answered - asked],
  ["whole", wholeOf],
];

/** A table of every piece: median, and what 95 in 100 stay below, in milliseconds; a column per side. */
export function formatColdStarts(sides: Readonly<Record<string, readonly ColdStart[]>>): string {
  const lines = pieces.map(([what, of]) => [what, ...Object.values(sides).map((starts) => cell(starts.map(of)))]);
  return alignColumns([["milliseconds, p50 (p95)", ...Object.keys(sides)], ...lines]);
}

function cell(times: readonly number[]): string {
  if (times.length === 0) return "";
  const high = times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.95) - 1] ?? Number.NaN;
  return `${spreadOf(times).median.toFixed(1)} (${high.toFixed(1)})`;
}
