import { alignColumns } from "./align-columns.ts";
import { reaches, type BenchRow, type Judged } from "./bench-row.ts";
import type { ContestOutcome } from "./interleave.ts";

export type RowResult =
  | { readonly row: BenchRow; readonly skipped: string }
  | { readonly row: BenchRow; readonly failed: string }
  | { readonly row: BenchRow; readonly outcome: ContestOutcome };

const columns = ["row", "what", "Weir", "peer", "judged (min – max)", "bar", "goal", "verdict"] as const;

export function formatTable(results: readonly RowResult[]): string {
  const lines: readonly (readonly string[])[] = [columns, ...results.map(lineOf)];
  return alignColumns(lines);
}

export function formatJson(results: readonly RowResult[], machine: Readonly<Record<string, unknown>>): string {
  const rows = results.map(({ row, ...rest }) => ({
    id: row.id,
    what: row.what,
    peer: row.peer,
    unit: row.unit,
    judgedBy: judgedBy(row),
    better: row.lessIsBetter === true ? "less" : "more",
    firstBar: row.firstBar,
    goal: row.goal,
    ...("outcome" in rest ? { ...rest.outcome, verdict: verdictOf(row, rest.outcome) } : rest),
  }));
  return `${JSON.stringify({ machine, rows }, null, 2)}\n`;
}

function lineOf(result: RowResult): string[] {
  const { row } = result;
  const sign = row.lessIsBetter === true ? "≤" : "≥";
  const bars = [`${sign} ${row.firstBar}`, `${sign} ${row.goal}`];
  if ("skipped" in result) return [row.id, row.what, "", "", "", ...bars, `skipped: ${result.skipped}`];
  if ("failed" in result) return [row.id, row.what, "", "", "", ...bars, `failed: ${result.failed}`];
  const { weir, peer, judged } = result.outcome;
  const rate = (value: number): string => `${amount(value)} ${row.unit}`;
  const unit = judgedBy(row) === "ratio" ? " ×" : ` ${row.unit}`;
  const show = judgedBy(row) === "ratio" ? (value: number) => value.toFixed(3) : amount;
  const spread = `${show(judged.median)}${unit} (${show(judged.min)} – ${show(judged.max)})`;
  const peerRate = peer === undefined ? "–" : rate(peer.median);
  return [row.id, row.what, rate(weir.median), peerRate, spread, ...bars, verdictOf(row, result.outcome)];
}

function judgedBy({ judged = "ratio" }: BenchRow): Judged {
  return judged;
}

function amount(value: number): string {
  return Math.abs(value) < 100 ? value.toPrecision(3) : String(Math.round(value));
}

function verdictOf(row: BenchRow, outcome: ContestOutcome): string {
  const { median } = outcome.judged;
  const bar = reaches(row, median, row.firstBar) ? "first bar" : "missed";
  const verdict = reaches(row, median, row.goal) ? "goal" : bar;
  return outcome.noisy ? `${verdict}, noisy` : verdict;
}
