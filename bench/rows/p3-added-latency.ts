import { join } from "node:path";

import { openServer } from "../background.ts";
import type { BenchRow, Contest } from "../bench-row.ts";
import { cores, openGateway, openTinyFunction, weirUrl } from "../calls/open-call-contest.ts";
import { latencyBelow, needWrk } from "../calls/wrk.ts";
import { pinned } from "../tools.ts";

const load = { core: cores.rest, connections: 1, seconds: 3 } as const;
const pipe = join(import.meta.dirname, "../calls/socket-pipe.ts");

/**
 * P3: latency that the gateway adds to sequential calls over one connection, compared with the same calls to the
 * function itself. The p50 is judged against what a pipe of two sockets adds, which parses nothing.
 */
export const p3AddedLatency: readonly BenchRow[] = [
  {
    id: "P3",
    what: "latency added to a call, 1 connection, p50",
    peer: "what a pipe of two sockets in Node adds, which reads nothing",
    unit: "µs",
    judged: "ratio",
    lessIsBetter: true,
    firstBar: 2,
    goal: 1.4,
    open: () => openContest(50),
  },
  {
    id: "P3",
    what: "latency added to a call, 1 connection, p99",
    peer: "what that pipe adds",
    unit: "µs",
    judged: "value",
    lessIsBetter: true,
    firstBar: 1_500,
    goal: 500,
    open: () => openContest(99),
  },
];

async function openContest(percentile: 50 | 99): Promise<Contest> {
  const wrk = needWrk();
  await using opened = new AsyncDisposableStack();
  const fn = opened.adopt(await openTinyFunction(cores.rest), ({ close }) => close());
  const gateway = opened.adopt(await openGateway(fn.port, cores.measured), ({ close }) => close());
  const command = pinned(cores.measured, [process.execPath, pipe, String(fn.port)]);
  const piped = opened.adopt(await openServer(command), ({ close }) => close());
  const latency = (url: string): Promise<number> => latencyBelow(wrk, percentile, { ...load, url });
  const direct = `http://127.0.0.1:${fn.port}/`;
  /** Measures both within a minute, as the function's own latency varies from one minute to the next. */
  const added = async (url: string): Promise<number> => (await latency(url)) - (await latency(direct));
  const kept = opened.move();
  return {
    weir: () => added(weirUrl(gateway.port)),
    peer: () => added(`http://127.0.0.1:${piped.port}/`),
    close: () => kept.disposeAsync(),
  };
}
