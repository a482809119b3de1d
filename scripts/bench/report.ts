import type { BenchRow } from "./bench-row.ts";
import type { ContestOutcome } from "./interleave.ts";

/** What became of one row. */
export type RowResult =
  | { readonly row: BenchRow; readonly skipped: string }
  | { readonly row: BenchRow; readonly outcome: ContestOutcome };

const columns = ["row", "what", "Weir", "peer", "ratio (min – max)", "bar", "goal", "verdict"] as const;

/** The results as a table for people. */
export function formatTable(results: readonly RowResult[]): string {
  const lines: readonly (readonly string[])[] = [columns, ...results.map(lineOf)];
  const widths = columns.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** The results for programs. */
export function formatJson(results: readonly RowResult[], machine: Readonly<Record<string, unknown>>): string {
  const rows = results.map(({ row, ...rest }) => ({
    id: row.id,
    what: row.what,
    peer: row.peer,
    unit: row.unit,
    firstBar: row.firstBar,
    goal: row.goal,
    ...("skipped" in rest ? { skipped: rest.skipped } : { ...rest.outcome, verdict: verdictOf(row, rest.outcome) }),
  }));
  return `${JSON.stringify({ machine, rows }, null, 2)}\n`;
}

function lineOf(result: RowResult): string[] {
  const { row } = result;
  const bars = [`≥ ${row.firstBar}`, `≥ ${row.goal}`];
  if ("skipped" in result) return [row.id, row.what, "", "", "", ...bars, `skipped: ${result.skipped}`];
  const { weir, peer, ratio } = result.outcome;
  const rate = (value: number): string => `${Math.round(value)} ${row.unit}`;
  const ratios = `${ratio.median.toFixed(3)} (${ratio.min.toFixed(3)} – ${ratio.max.toFixed(3)})`;
  return [row.id, row.what, rate(weir.median), rate(peer.median), ratios, ...bars, verdictOf(row, result.outcome)];
}

function verdictOf(row: BenchRow, outcome: ContestOutcome): string {
  const { median } = outcome.ratio;
  const verdict = median >= row.goal ? "goal" : median >= row.firstBar ? "first bar" : "below the bar";
  return outcome.noisy ? `${verdict}, noisy` : verdict;
}
