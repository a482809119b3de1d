import { join } from "node:path";

import type { BenchRow } from "../bench-row.ts";
import { openGoServer } from "../calls/go-server.ts";
import { keepAliveProxy, openNginx } from "../calls/nginx.ts";
import { cores, openCallContest } from "../calls/open-call-contest.ts";
import { callsPerSecond, needWrk } from "../calls/wrk.ts";

const script = join(import.meta.dirname, "../calls/post-mebibyte.lua");
const load = { core: cores.rest, connections: 8, seconds: 3, script } as const;
/** One with each request, and one with each response. */
const mebibytesPerCall = 2;

/** Streams both ways chunk by chunk, as Weir does, with chunks as large as those that Node reads. */
const streaming = `
  client_max_body_size 0; client_body_buffer_size 64k; proxy_request_buffering off;
  proxy_buffers 8 64k; proxy_buffer_size 64k; proxy_busy_buffers_size 128k; proxy_max_temp_file_size 0;`;

/** P5: throughput with bodies of 1 MiB in both directions, against nginx in front of the same function. */
export const p5LargeBodies: BenchRow = {
  id: "P5",
  what: `1 MiB with the call and 1 MiB with the answer, ${load.connections} connections`,
  peer: "nginx, 1 worker, both ways streamed through buffers of 64 KiB",
  unit: "MiB/s",
  firstBar: 0.55,
  goal: 0.7,
  open: async () => {
    const wrk = needWrk();
    return openCallContest({
      openFunction: () => openGoServer("go-function", cores.rest),
      openPeer: (functionPort) => openNginx(cores.measured, keepAliveProxy(functionPort, streaming)),
      measure: async (url) => mebibytesPerCall * (await callsPerSecond(wrk, { ...load, url })),
    });
  },
};
