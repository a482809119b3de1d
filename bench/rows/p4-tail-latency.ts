import { BenchSkipped, type BenchRow } from "../bench-row.ts";
import { keepAliveProxy, openNginx } from "../calls/nginx.ts";
import { cores, openCallContest } from "../calls/open-call-contest.ts";
import { steadyLatency } from "../calls/steady-latency.ts";
import { callsPerSecond, needWrk } from "../calls/wrk.ts";
import { say } from "../tools.ts";
import { p1Load } from "./p1-sync-call.ts";

const load = { core: cores.rest, connections: 100, share: 0.999 } as const;
/** Calls per second; at a lower rate a measurement would last longer than a minute. */
const lowestRate = 500;

/** P4: p99.9 of the latency at half of P1's rate, against nginx at the same rate. */
export const p4TailLatency: BenchRow = {
  id: "P4",
  what: "p99.9 at half of P1's rate, constant arrival",
  peer: "nginx, 1 worker, keep-alive to the same upstream, at the same rate",
  unit: "ms",
  lessIsBetter: true,
  firstBar: 3,
  goal: 1.5,
  open: async () => {
    const wrk = needWrk();
    let rate = 0;
    let latest = 0;
    const contest = await openCallContest({
      openPeer: (functionPort) => openNginx(cores.measured, keepAliveProxy(functionPort)),
      prepare: async (url) => {
        // Warm-up.
        await callsPerSecond(wrk, { ...p1Load, url });
        rate = Math.round((await callsPerSecond(wrk, { ...p1Load, url })) / 2);
        if (rate < lowestRate) throw new BenchSkipped(`${rate} calls/s are too few to see one in a thousand in time`);
      },
      measure: async (url) => {
        const { latency, late } = await steadyLatency({ ...load, url, rate });
        latest = Math.max(latest, late);
        return latency;
      },
    });
    return {
      ...contest,
      close: async () => {
        say(`P4 at ${rate} calls/s: the sender's own p99.9 was late by at most ${latest.toFixed(2)} ms`);
        await contest.close();
      },
    };
  },
};
