import type { BenchRow } from "../bench-row.ts";
import { inTurn, openTimedReads, type TimedRead } from "./timed-reads.ts";

/** H7: what a picture of functions, and one call, take. */
export const h7Rollups: readonly BenchRow[] = [
  row("rollups of 50 functions over 7 days, p95", 50, async (reads, { counted, since, until }) => {
    const series = await reads.rollups({ functions: counted, step: "1h", since, until });
    const known = series.every(({ calls }) => calls.every((count) => count !== null));
    if (series.length !== counted.length || !known) throw new Error("the series are not whole");
  }),
  row("one call with all that is known of it, p95", 10, async (reads, { ids }, turn) => {
    const call = await reads.get(inTurn(ids, turn));
    if (call?.details.entry?.attempts.length !== 1) throw new Error("the call is not whole");
  }),
];

function row(what: string, bar: number, read: TimedRead): BenchRow {
  return {
    id: "H7",
    what: `history: ${what}`,
    peer: "nothing",
    unit: "ms",
    judged: "value",
    lessIsBetter: true,
    firstBar: bar,
    goal: bar,
    open: () => openTimedReads(read),
  };
}
