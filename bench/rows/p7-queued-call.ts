import { Pool } from "undici";

import { provisionBare, runBare } from "../queue/bare-protocol.ts";
import { benchFunction, openBenchPlatform, until } from "../queue/bench-platform.ts";
import type { BenchRow } from "../bench-row.ts";
import { openTinyFunction } from "../calls/open-call-contest.ts";

const calls = 3_000;
const inFlight = 64;
/** Of the worker. */
export const p7Slots = 16;
const body = Buffer.alloc(1_024, "x");

/** P7: calls accepted over HTTP, run, recorded and acknowledged by one worker, against the bare protocol. */
export const p7QueuedCall: BenchRow = {
  id: "P7",
  what: `queued call: accept, run, record, ack; 1 KiB, one worker with ${p7Slots} slots`,
  peer: "the same steps at the same broker without HTTP, in one process",
  unit: "calls/s",
  firstBar: 0.5,
  goal: 0.8,
  open: async () => {
    const opened = new AsyncDisposableStack();
    const close = (): Promise<void> => opened.disposeAsync();
    try {
      const fn = await openTinyFunction(1);
      opened.defer(() => fn.close());
      const platform = await openBenchPlatform({ slots: p7Slots, worker: true, functionPort: fn.port });
      opened.defer(() => platform.close());
      await provisionBare(platform.link.nc);
      const pool = openCallers(platform.port);
      opened.defer(() => pool.destroy());
      return {
        weir: () => queuedCallsPerSecond(pool, platform.workerAdmin),
        peer: () => runBare(platform.link.nc, { count: calls, inFlight, slots: p7Slots, body }),
        close,
      };
    } catch (err) {
      await close();
      throw err;
    }
  },
};

/** Those that send calls to a gateway. */
export function openCallers(port: number): Pool {
  return new Pool(`http://127.0.0.1:${port}`, { connections: inFlight });
}

/** Queues calls at a gateway, and waits until its worker has run them. */
export async function queuedCallsPerSecond(pool: Pool, workerAdmin: number): Promise<number> {
  const before = await processed(workerAdmin);
  let sent = 0;
  const startedAt = performance.now();
  const send = async (): Promise<void> => {
    while (sent < calls) {
      sent++;
      const reply = await pool.request({ method: "POST", path: `/async-function/${benchFunction.name}`, body });
      await reply.body.dump();
      if (reply.statusCode !== 202) throw new Error(`the gateway answered ${reply.statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, send));
  await until(async () => (await processed(workerAdmin)) - before >= calls, "the worker to finish", 25);
  return calls / ((performance.now() - startedAt) / 1_000);
}

async function processed(workerAdmin: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${workerAdmin}/metrics`)).text();
  return Number(/^queue_worker_messages_processed_total\{[^}]*\} (\d+)/m.exec(text)?.[1] ?? 0);
}
