import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { Pool } from "undici";

import { tempDirectory } from "../../test/support/temp-directory.ts";
import type { BenchRow, Contest } from "../bench-row.ts";
import { cores, openTinyFunction } from "../calls/open-call-contest.ts";
import { callsPerSecond } from "../calls/wrk.ts";
import { spreadOf } from "../interleave.ts";
import { manyName, openManyFunctions, type ManyFunctions } from "../many/many-functions.ts";
import { restingMegabytes } from "../processes/resting-memory.ts";
import { needTool } from "../tools.ts";

const [many, few] = [10_000, 10];
const lists = 20;
const callers = 50;

/** Measures one side. */
type Measure = (side: ManyFunctions) => Promise<number>;

const common = { id: "P13", peer: `${few} functions` } as const;

/** P13: the cost of 10 000 functions, all of them called. */
export const p13ManyFunctions: readonly BenchRow[] = [
  {
    ...common,
    what: `synchronous calls, ${callers} connections, each to the next of ${many} functions`,
    unit: "calls/s",
    firstBar: 0.95,
    goal: 0.95,
    open: openLookUp,
  },
  {
    ...common,
    what: `list of ${many} functions, p50`,
    unit: "ms",
    judged: "value",
    lessIsBetter: true,
    firstBar: 500,
    goal: 150,
    open: () => openBoth(withGateway(timeOfList)),
  },
  {
    ...common,
    what: `memory at rest of a gateway that knows ${many} functions, after a call of each and a list`,
    unit: "MB",
    judged: "value",
    lessIsBetter: true,
    firstBar: 350,
    goal: 250,
    open: () => openBoth(withGateway(memoryAfterUse)),
  },
];

interface Gateway {
  readonly side: ManyFunctions;
  readonly pool: Pool;
  readonly pid: number;
}

/** Starts a new gateway for each measurement, so its memory holds nothing of the previous one. */
function withGateway(measure: (gateway: Gateway) => Promise<number>): Measure {
  return async (side) => {
    const started = await side.startGateway();
    const pool = new Pool(`http://127.0.0.1:${started.port}`, { connections: callers });
    try {
      return await measure({ side, pool, pid: started.pid });
    } finally {
      await pool.destroy();
      await started.stop();
    }
  };
}

async function timeOfList(gateway: Gateway): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < lists; round += 1) {
    const began = performance.now();
    const text = await list(gateway);
    times.push(performance.now() - began);
    const seen = (JSON.parse(text) as readonly unknown[]).length;
    if (seen !== gateway.side.count) throw new Error(`${seen} functions are listed of ${gateway.side.count}`);
  }
  return spreadOf(times).median;
}

async function memoryAfterUse(gateway: Gateway): Promise<number> {
  const { side, pool, pid } = gateway;
  let next = 0;
  const callNext = async (): Promise<void> => {
    while (next < side.count) {
      const reply = await pool.request({ method: "GET", path: `/function/${manyName(next++)}` });
      await reply.body.dump();
      if (reply.statusCode !== 200) throw new Error(`the gateway answered ${reply.statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: callers }, callNext));
  await list(gateway);
  return restingMegabytes(pid);
}

async function list({ side, pool }: Gateway): Promise<string> {
  const headers = { authorization: side.authorization };
  const reply = await pool.request({ method: "GET", path: "/system/functions", headers });
  const text = await reply.body.text();
  if (reply.statusCode !== 200) throw new Error(`the gateway answered ${reply.statusCode}: ${text}`);
  return text;
}

async function openLookUp(): Promise<Contest> {
  const wrk = needTool("wrk", "wrk");
  const directory = await tempDirectory("bench-many");
  const gateways = new Map<ManyFunctions, { readonly url: string; readonly script: string }>();
  const contest = await openBoth(
    async (side) => {
      const { url, script } = gateways.get(side) ?? { url: "", script: "" };
      return callsPerSecond(wrk, { url, script, core: cores.rest, connections: callers, seconds: 3 });
    },
    async (side) => {
      const script = join(directory.path, `${side.count}.lua`);
      await writeFile(script, callEach(side.count));
      const { port } = await side.startGateway(cores.measured);
      gateways.set(side, { url: `http://127.0.0.1:${port}`, script });
    },
  ).catch(async (err: unknown) => {
    await directory.remove();
    throw err;
  });
  const close = async (): Promise<void> => {
    await contest.close();
    await directory.remove();
  };
  return { ...contest, close };
}

/** A script for `wrk` that calls one function after the other, with all requests built in advance. */
function callEach(count: number): string {
  return `
    local requests, next = {}, 0
    init = function()
      for index = 0, ${count - 1} do requests[index] = wrk.format("GET", "/function/${manyName(0).slice(0, -1)}" .. index) end
    end
    request = function()
      next = (next + 1) % ${count}
      return requests[next]
    end`;
}

/** Opens both sides, with one function behind all names; `prepare` runs for each side before its first measurement. */
async function openBoth(
  measure: Measure,
  prepare: (side: ManyFunctions) => Promise<void> = async () => {},
): Promise<Contest> {
  const opened = new AsyncDisposableStack();
  const close = (): Promise<void> => opened.disposeAsync();
  try {
    const fn = await openTinyFunction(cores.rest);
    opened.defer(() => fn.close());
    const open = async (count: number): Promise<ManyFunctions> => {
      const side = await openManyFunctions(count, `127.0.0.1:${fn.port}`);
      opened.defer(() => side.close());
      await prepare(side);
      return side;
    };
    const [full, small] = [await open(many), await open(few)];
    return { weir: () => measure(full), peer: () => measure(small), close };
  } catch (err) {
    await close();
    throw err;
  }
}
