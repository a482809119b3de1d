import { setTimeout as pause } from "node:timers/promises";

import { freePort } from "../../test/support/free-port.ts";
import { processorSeconds } from "../../test/support/process-facts.ts";
import type { BenchRow, Contest } from "../bench-row.ts";
import { cores, openTinyFunction } from "../calls/open-call-contest.ts";
import { callsPerSecond } from "../calls/wrk.ts";
import { manyName, openManyFunctions, type ManyFunctions } from "../many/many-functions.ts";
import type { BenchProcess } from "../processes/bench-process.ts";
import { restingMegabytes } from "../processes/resting-memory.ts";
import { p1Load } from "../rows/p1-sync-call.ts";
import { needTool } from "../tools.ts";
import { openPages } from "./open-pages.ts";

const [functions, pages] = [10_000, 50];
const measured = 5_000;
/** Milliseconds until the pages have their whole list, and what was compiled for that is at rest. */
const settling = 5_000;

type Gateway = BenchProcess & { readonly port: number };

/** C6: what open pages of the console cost a gateway that knows 10 000 functions. */
export const c6OpenPages: readonly BenchRow[] = [
  {
    id: "C6",
    what: `gateway with ${functions} functions: processor time of ${pages} open pages`,
    peer: "no page",
    unit: "cores",
    judged: "difference",
    lessIsBetter: true,
    firstBar: 0.05,
    goal: 0.05,
    open: () => openWithPages(async ({ pid }) => processorShare(pid)),
  },
  {
    id: "C6",
    what: `synchronous calls, ${p1Load.connections} connections, while ${pages} pages are open`,
    peer: "no page",
    unit: "calls/s",
    firstBar: 0.98,
    goal: 0.98,
    open: async () => {
      const wrk = needTool("wrk", "wrk");
      return openWithPages(({ port }) =>
        callsPerSecond(wrk, { ...p1Load, url: `http://127.0.0.1:${port}/function/${manyName(0)}` }),
      );
    },
  },
  {
    id: "C6",
    what: "memory at rest of a gateway with a console that nobody looks at",
    peer: "without a console",
    unit: "MB",
    judged: "difference",
    lessIsBetter: true,
    firstBar: 3,
    goal: 3,
    open: openAtRest,
  },
];

/** One gateway, measured with and without pages in turns. */
async function openWithPages(measure: (gateway: Gateway) => Promise<number>): Promise<Contest> {
  const opened = new AsyncDisposableStack();
  try {
    const side = await openFunctions(opened, functions);
    const gateway = await side.startGateway(cores.measured);
    opened.defer(() => gateway.stop());
    return {
      weir: async () => {
        using _pages = await openPages(gateway.port, side.authorization, pages);
        await pause(settling);
        return await measure(gateway);
      },
      peer: async () => {
        await pause(settling);
        return measure(gateway);
      },
      close: () => opened.disposeAsync(),
    };
  } catch (err) {
    await opened.disposeAsync();
    throw err;
  }
}

/** A new gateway for each measurement. */
async function openAtRest(): Promise<Contest> {
  const opened = new AsyncDisposableStack();
  try {
    const side = await openFunctions(opened, 1);
    const measure = async (flags: readonly string[]): Promise<number> => {
      const gateway = await side.startGateway(undefined, flags);
      try {
        return await restingMegabytes(gateway.pid);
      } finally {
        await gateway.stop();
      }
    };
    return {
      weir: async () => measure(["--console-port", String(await freePort())]),
      peer: () => measure([]),
      close: () => opened.disposeAsync(),
    };
  } catch (err) {
    await opened.disposeAsync();
    throw err;
  }
}

async function openFunctions(opened: AsyncDisposableStack, count: number): Promise<ManyFunctions> {
  const fn = await openTinyFunction(cores.rest);
  opened.defer(() => fn.close());
  const side = await openManyFunctions(count, `127.0.0.1:${fn.port}`);
  opened.defer(() => side.close());
  return side;
}

async function processorShare(pid: number): Promise<number> {
  const [begun, before] = [performance.now(), processorSeconds(pid)];
  await pause(measured);
  return (processorSeconds(pid) - before) / ((performance.now() - begun) / 1_000);
}
