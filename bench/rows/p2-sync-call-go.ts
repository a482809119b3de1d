import type { BenchRow } from "../bench-row.ts";
import { openGoServer } from "../calls/go-server.ts";
import { cores, openCallContest } from "../calls/open-call-contest.ts";
import { callsPerSecond, needWrk } from "../calls/wrk.ts";
import { p1Load } from "./p1-sync-call.ts";

/** P2: the calls of P1, against the reverse proxy of Go's standard library in front of the same function. */
export const p2SyncCallGo: BenchRow = {
  id: "P2",
  what: "synchronous call, 50 connections",
  peer: "Go's httputil.ReverseProxy, one core, keep-alive to the same upstream",
  unit: "calls/s",
  firstBar: 1.3,
  goal: 2,
  open: async () => {
    const wrk = needWrk();
    return openCallContest({
      openPeer: (functionPort) => openGoServer("go-proxy", cores.measured, `127.0.0.1:${functionPort}`),
      measure: (url) => callsPerSecond(wrk, { ...p1Load, url }),
    });
  },
};
