import { Pool } from "undici";

import { emptyStreams, writeBare } from "../queue/bare-writes.ts";
import { benchFunction, openBenchPlatform } from "../queue/bench-platform.ts";
import type { BenchRow } from "../bench-row.ts";
import { latencyAt } from "../constant-arrival.ts";

const rate = 200;
const seconds = 5;
const connections = 16;
const body = Buffer.alloc(1_024, "x");

/** P8: time to the 202 at a constant arrival rate, against that of the two writes that accepting waits for. */
export const p8AcceptLatency: readonly BenchRow[] = [
  row("p50", { share: 0.5, firstBar: 3, goal: 1.5 }),
  row("p99", { share: 0.99, firstBar: 4, goal: 2 }),
];

function row(
  name: string,
  { share, firstBar, goal }: { readonly share: number; readonly firstBar: number; readonly goal: number },
): BenchRow {
  return {
    id: "P8",
    what: `202 latency at ${rate}/s, ${name}; 1 KiB`,
    peer: "the two writes into the same streams without HTTP, at the same rate",
    unit: "ms",
    lessIsBetter: true,
    firstBar,
    goal,
    open: async () => {
      const platform = await openBenchPlatform({ slots: 1, worker: false, functionPort: 1 });
      const pool = new Pool(`http://127.0.0.1:${platform.port}`, { connections });
      const measure = async (act: () => Promise<void>): Promise<number> => {
        await emptyStreams(platform.link);
        return latencyAt(act, { rate, count: rate * seconds, share });
      };
      return {
        weir: () => measure(() => acceptOne(pool)),
        peer: () => measure(() => writeBare(platform.link.nc, body)),
        close: async () => {
          await pool.destroy();
          await platform.close();
        },
      };
    },
  };
}

/** Sends one queued call to a gateway. */
export async function acceptOne(pool: Pool): Promise<void> {
  const reply = await pool.request({ method: "POST", path: `/async-function/${benchFunction.name}`, body });
  await reply.body.dump();
  if (reply.statusCode !== 202) throw new Error(`the gateway answered ${reply.statusCode}`);
}
