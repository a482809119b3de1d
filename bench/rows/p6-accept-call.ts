import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { NatsConnection } from "@nats-io/transport-node";

import { emptyStreams, writeBare } from "../queue/bare-writes.ts";
import { benchFunction, openBenchPlatform, type BenchPlatform } from "../queue/bench-platform.ts";
import type { BenchRow } from "../bench-row.ts";
import { callsPerSecond, needWrk } from "../calls/wrk.ts";

const inFlight = 64;
const seconds = 3;
const bodySize = 1_024;
const script = `wrk.method = "POST"\nwrk.body = string.rep("x", ${bodySize})\n`;

/** P6: calls accepted over HTTP, none of them run, against the two writes that accepting waits for. */
export const p6AcceptCall: BenchRow = {
  id: "P6",
  what: `accept a call: record, durable publish, 202; 1 KiB, ${inFlight} in flight`,
  peer: "the two writes into the same streams without HTTP",
  unit: "calls/s",
  firstBar: 0.5,
  goal: 0.9,
  open: async () => {
    const acceptance = openAcceptance();
    const platform = await openBenchPlatform({ slots: 1, worker: false, functionPort: 1 }).catch((err: unknown) => {
      acceptance.close();
      throw err;
    });
    return {
      weir: () => acceptance.measure(platform),
      peer: async () => {
        await emptyStreams(platform.link);
        return writesPerSecond(platform.link.nc);
      },
      close: async () => {
        await platform.close();
        acceptance.close();
      },
    };
  },
};

/** Measures how many calls a gateway accepts. */
export interface Acceptance {
  /** Calls per second; the streams are emptied before. */
  measure(platform: BenchPlatform): Promise<number>;
  close(): void;
}

/** @throws BenchSkipped when `wrk` is not available */
export function openAcceptance(): Acceptance {
  const wrk = needWrk();
  const directory = mkdtempSync(join(tmpdir(), "weir-bench-"));
  const scriptFile = join(directory, "post.lua");
  writeFileSync(scriptFile, script);
  return {
    measure: async ({ link, port }) => {
      await emptyStreams(link);
      const url = `http://127.0.0.1:${port}/async-function/${benchFunction.name}`;
      return callsPerSecond(wrk, { url, connections: inFlight, seconds, script: scriptFile });
    },
    close: () => rmSync(directory, { recursive: true, force: true }),
  };
}

async function writesPerSecond(nc: NatsConnection): Promise<number> {
  const body = Buffer.alloc(bodySize, "x");
  const startedAt = performance.now();
  let written = 0;
  const write = async (): Promise<void> => {
    while (performance.now() - startedAt < seconds * 1_000) {
      await writeBare(nc, body);
      written++;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, write));
  return written / ((performance.now() - startedAt) / 1_000);
}
