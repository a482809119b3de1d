import type { BenchRow } from "../bench-row.ts";
import { keepAliveProxy, openNginx } from "../calls/nginx.ts";
import { cores, openCallContest } from "../calls/open-call-contest.ts";
import { callsPerSecond, needWrk } from "../calls/wrk.ts";

/** Calls of the tiny function over 50 keep-alive connections. */
export const p1Load = { core: cores.rest, connections: 50, seconds: 3 } as const;

/** P1: synchronous calls of 1 KiB over 50 connections, against nginx as proxy in front of the same function. */
export const p1SyncCall: BenchRow = {
  id: "P1",
  what: "synchronous call, 50 connections",
  peer: "nginx, 1 worker, keep-alive to the same upstream",
  unit: "calls/s",
  firstBar: 0.4,
  goal: 0.6,
  open: async () => {
    const wrk = needWrk();
    return openCallContest({
      openPeer: (functionPort) => openNginx(cores.measured, keepAliveProxy(functionPort)),
      measure: (url) => callsPerSecond(wrk, { ...p1Load, url }),
    });
  },
};
