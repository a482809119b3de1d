import { join } from "node:path";

import type { BenchRow } from "./bench-row.ts";
import { firstLine, startBackground } from "./background.ts";
import { keepAliveProxy, openNginx, tinyFunction } from "./nginx.ts";
import { needTool, pinned } from "./tools.ts";
import { callsPerSecond } from "./wrk.ts";

/** Gateway and peer share the first core in turns; load and function share the second. */
const cores = { measured: 0, rest: 1 } as const;
const load = { core: cores.rest, connections: 50, seconds: 3 } as const;

/** P1: synchronous calls of 1 KiB over 50 connections, against nginx as proxy in front of the same function. */
export const p1SyncCall: BenchRow = {
  id: "P1",
  what: "synchronous call, 50 connections",
  peer: "nginx, 1 worker, keep-alive to the same upstream",
  unit: "calls/s",
  firstBar: 0.4,
  goal: 0.6,
  open: async () => {
    const nginx = needTool("nginx", "nginx-light");
    const wrk = needTool("wrk", "wrk");
    const closers: (() => Promise<void>)[] = [];
    const close = async (): Promise<void> => {
      for (let step = closers.pop(); step !== undefined; step = closers.pop()) await step();
    };
    try {
      const fn = await openNginx(nginx, cores.rest, tinyFunction("x".repeat(1_024)));
      closers.push(() => fn.close());
      const proxy = await openNginx(nginx, cores.measured, keepAliveProxy(fn.port));
      closers.push(() => proxy.close());
      const main = join(import.meta.dirname, "bench-gateway.ts");
      const gateway = startBackground(pinned(cores.measured, [process.execPath, main, `127.0.0.1:${fn.port}`]));
      closers.push(() => gateway.stop());
      const port = await firstLine(gateway);
      return {
        weir: () => callsPerSecond(wrk, { ...load, url: `http://127.0.0.1:${port}/function/tiny` }),
        peer: () => callsPerSecond(wrk, { ...load, url: `http://127.0.0.1:${proxy.port}/` }),
        close,
      };
    } catch (err) {
      await close();
      throw err;
    }
  },
};
