import { Pool } from "undici";

import type { BenchRow, Contest } from "../bench-row.ts";
import { failingFunction, openNginx } from "../calls/nginx.ts";
import { cores } from "../calls/open-call-contest.ts";
import { failuresPerSecond, needWrk } from "../calls/wrk.ts";
import { latencyAt } from "../constant-arrival.ts";
import { benchFunction, type BenchPlatform } from "../queue/bench-platform.ts";
import { emptyStreams } from "../queue/bare-writes.ts";
import { acceptOne } from "../rows/p8-accept-latency.ts";
import { p1Load } from "../rows/p1-sync-call.ts";
import { say } from "../tools.ts";
import { withFunction } from "./h4-with-history.ts";
import { openHistorySides } from "./history-sides.ts";

const arrival = { rate: 200, count: 2_000, share: 0.99 } as const;
const crashEvery = 500;
const connections = 16;

/** What calls notice of faults of the history: FH1 when it is killed, FH7 when it is told more than it keeps. */
export const historyFaultRatios: readonly BenchRow[] = [
  {
    id: "FH1",
    what: `202 latency at ${arrival.rate}/s while the history is killed each time that it runs, p99`,
    peer: "the same without a history",
    unit: "ms",
    lessIsBetter: true,
    firstBar: 1.05,
    goal: 1.05,
    open: openLatencies,
  },
  {
    id: "FH7",
    what: "synchronous calls that all fail, 50 connections: more of them than the history keeps",
    peer: "the same without a history",
    unit: "calls/s",
    firstBar: 0.97,
    goal: 0.97,
    open: openFailures,
  },
];

async function openLatencies(): Promise<Contest> {
  const pools = new Map<number, Pool>();
  const sides = await openHistorySides(
    { slots: 1, worker: false, functionPort: 1 },
    async ({ link, port }, history) => {
      const pool = pools.get(port) ?? new Pool(`http://127.0.0.1:${port}`, { connections });
      pools.set(port, pool);
      await emptyStreams(link);
      const crashes = setInterval(() => history?.crash(), crashEvery);
      try {
        return await latencyAt(() => acceptOne(pool), arrival);
      } finally {
        clearInterval(crashes);
      }
    },
  );
  const close = async (): Promise<void> => {
    for (const pool of pools.values()) await pool.destroy();
    await sides.close();
  };
  return { ...sides, close };
}

async function openFailures(): Promise<Contest> {
  const wrk = needWrk();
  return withFunction(openNginx(cores.rest, failingFunction), (functionPort) =>
    openHistorySides(
      { slots: 1, worker: false, functionPort, gatewayCore: cores.measured },
      async (platform, history) => {
        const before = await skippedCalls(platform);
        const url = `http://127.0.0.1:${platform.port}/function/${benchFunction.name}`;
        const { rate, calls } = await failuresPerSecond(wrk, { ...p1Load, url });
        const skipped = (await skippedCalls(platform)) - before;
        if (history !== undefined) say(`FH7: ${calls} calls failed, ${skipped} of them were skipped`);
        return rate;
      },
    ),
  );
}

/** Calls that the gateway had no room for so far; 0 without a history. */
async function skippedCalls({ gatewayAdmin }: BenchPlatform): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${gatewayAdmin}/metrics`)).text();
  return Number(/^gateway_history_skipped_total (\d+)/m.exec(text)?.[1] ?? 0);
}
