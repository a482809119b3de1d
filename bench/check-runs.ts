import { reaches, type BenchRow } from "./bench-row.ts";
import type { ContestOutcome } from "./interleave.ts";

/** The median of three runs is judged, so two runs can decide. */
const decisive = 2;

type Bar = Pick<BenchRow, "firstBar" | "lessIsBetter">;
type Run = { readonly judged: Pick<ContestOutcome["judged"], "median"> };

/** Whether the median of three runs could still be on either side of the bar. */
export function needsAnotherRun(row: Bar, runs: readonly Run[]): boolean {
  const missed = countMissed(row, runs);
  return missed < decisive && runs.length - missed < decisive;
}

/** Whether the median of three runs misses the bar, whatever the third run gives. */
export function missesBar(row: Bar, runs: readonly Run[]): boolean {
  return countMissed(row, runs) >= decisive;
}

function countMissed(row: Bar, runs: readonly Run[]): number {
  return runs.filter(({ judged }) => !reaches(row, judged.median, row.firstBar)).length;
}
