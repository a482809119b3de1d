import { Pool } from "undici";

import { queueStream } from "../../runtime/adapters/nats/stream-names.ts";
import { openFunctionServer, type FunctionServer } from "../../test/support/function-server.ts";
import { quantile } from "../../test/support/load.ts";
import type { BenchRow } from "../bench-row.ts";
import { benchFunction, openBenchPlatform, until, type BenchPlatform } from "../queue/bench-platform.ts";

const calls = 250;
const body = Buffer.alloc(1_024, "x");

/** P9: from the 202 to the start of the function, each call into the empty queue of an idle queue-worker. */
export const p9IdleStart: BenchRow = {
  id: "P9",
  what: "idle queue: from the 202 to the start of the function, p99; 1 KiB",
  peer: "nothing",
  unit: "ms",
  judged: "value",
  lessIsBetter: true,
  firstBar: 50,
  goal: 5,
  open: async () => {
    const starts = new Map<string, number>();
    const fn = await openFunctionServer((request, response) => {
      starts.set(String(request.headers["x-call-id"]), performance.now());
      response.end();
    });
    const platform = await openBenchPlatform({
      slots: 1,
      worker: true,
      functionPort: Number(fn.address.split(":").at(-1)),
    }).catch(async (err: unknown) => {
      await fn.close();
      throw err;
    });
    const pool = new Pool(`http://127.0.0.1:${platform.port}`, { connections: 1 });
    return {
      weir: () => slowStart(platform, pool, { fn, starts }),
      close: async () => {
        await pool.destroy();
        await platform.close();
        await fn.close();
      },
    };
  },
};

/** p99 of the wait for the start, in milliseconds. */
async function slowStart(
  platform: BenchPlatform,
  pool: Pool,
  { fn, starts }: { readonly fn: FunctionServer; readonly starts: Map<string, number> },
): Promise<number> {
  const waits: number[] = [];
  for (let call = 0; call < calls; call += 1) {
    await until(() => isEmpty(platform), "the queue to be empty", 2);
    const reply = await pool.request({ method: "POST", path: `/async-function/${benchFunction.name}`, body });
    await reply.body.dump();
    const accepted = performance.now();
    if (reply.statusCode !== 202) throw new Error(`the gateway answered ${reply.statusCode}`);
    const id = String(reply.headers["x-call-id"]);
    await until(() => isDone(pool, id), "the call to be done", 2);
    // The function may start before the sender has read the 202.
    waits.push(Math.max(0, (starts.get(id) ?? Number.NaN) - accepted));
  }
  starts.clear();
  fn.requests.length = 0;
  return quantile(
    waits.toSorted((a, b) => a - b),
    0.99,
  );
}

async function isDone(pool: Pool, id: string): Promise<boolean> {
  const reply = await pool.request({ method: "GET", path: `/async-function/${id}?wait=10s` });
  const { state } = (await reply.body.json()) as { readonly state?: string };
  if (state === "failed") throw new Error("the call failed");
  return state === "done";
}

/** A call is acknowledged after its record says that it is done. */
async function isEmpty({ link }: BenchPlatform): Promise<boolean> {
  return (await link.jsm.streams.info(queueStream("default"))).state.messages === 0;
}
