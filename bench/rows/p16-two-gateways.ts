import { availableParallelism } from "node:os";

import type { Server } from "../background.ts";
import type { BenchRow, Contest } from "../bench-row.ts";
import { openGateway, openTinyFunction, weirUrl } from "../calls/open-call-contest.ts";
import { callsPerSecond, needWrk } from "../calls/wrk.ts";
import { openCpuBound } from "../cpu-bound.ts";

const load = { connections: 50, seconds: 3 } as const;
/** Share of a core per gateway when there are too few cores; load and function then keep up with both. */
const share = 0.25;
const enoughCores = availableParallelism() >= 4;
/** Without enough cores, both gateways are limited on the first, and load and function use the second. */
const cores = enoughCores
  ? { gateways: [0, 1], tinyFunction: 2, load: 3 }
  : { gateways: [0, 0], tinyFunction: 1, load: 1 };

/** P16: two gateways under load at the same time, against one of them. */
export const p16TwoGateways: BenchRow = {
  id: "P16",
  what: enoughCores
    ? "synchronous call, two gateways, each on a core of its own"
    : `synchronous call, two gateways, each bound to ${share * 100} % of a core by a control group`,
  peer: "one gateway alike",
  unit: "calls/s",
  firstBar: 1.8,
  goal: 1.95,
  open: async () => {
    const wrk = needWrk();
    const measure = (url: string): Promise<number> => callsPerSecond(wrk, { ...load, core: cores.load, url });
    return openContest(measure);
  },
};

async function openContest(measure: (url: string) => Promise<number>): Promise<Contest> {
  await using opened = new AsyncDisposableStack();
  const tiny = await openTinyFunction(cores.tinyFunction);
  opened.defer(() => tiny.close());
  const urls: string[] = [];
  for (const core of cores.gateways) {
    const gateway = await openOwnGateway(tiny.port, core, opened);
    urls.push(weirUrl(gateway.port));
  }
  const kept = opened.move();
  return {
    weir: async () => {
      const rates = await Promise.all(urls.map(measure));
      return rates.reduce((sum, rate) => sum + rate, 0);
    },
    peer: () => measure(urls[0] ?? ""),
    close: () => kept.disposeAsync(),
  };
}

async function openOwnGateway(functionPort: number, core: number, opened: AsyncDisposableStack): Promise<Server> {
  let within = (command: readonly string[]): readonly string[] => command;
  if (!enoughCores) {
    const bound = openCpuBound(share);
    opened.defer(() => bound.close());
    within = bound.within;
  }
  const gateway = await openGateway(functionPort, core, within);
  opened.defer(() => gateway.close());
  return gateway;
}
