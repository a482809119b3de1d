import type { BenchRow } from "../bench-row.ts";
import { cores, openCallContest } from "../calls/open-call-contest.ts";
import { latencyBelow, needWrk } from "../calls/wrk.ts";

const load = { core: cores.rest, connections: 1, seconds: 3 } as const;

/** P3: what the gateway adds to the time of one call after the other over one connection, against direct ones. */
export const p3AddedLatency: readonly BenchRow[] = [
  row(50, { firstBar: 60, goal: 30 }),
  row(99, { firstBar: 1_500, goal: 500 }),
];

function row(percentile: 50 | 99, bars: { readonly firstBar: number; readonly goal: number }): BenchRow {
  return {
    id: "P3",
    what: `latency added to a call, 1 connection, p${percentile}`,
    peer: "the function called directly",
    unit: "µs",
    judged: "difference",
    lessIsBetter: true,
    ...bars,
    open: async () => {
      const wrk = needWrk();
      return openCallContest({ measure: (url) => latencyBelow(wrk, percentile, { ...load, url }) });
    },
  };
}
