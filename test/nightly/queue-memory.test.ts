import { randomUUID } from "node:crypto";

import { Pool } from "undici";
import { expect, test } from "vitest";

import { sampleCall, sampleEntry } from "../contract/samples.ts";
import { eventually } from "../support/eventually.ts";
import { figure } from "../support/figure.ts";
import { openFunctionServer } from "../support/function-server.ts";
import { sendLoad } from "../support/load.ts";
import { openPlatform } from "../support/platform.ts";
import { residentBytes } from "../support/process-facts.ts";

const megabyte = 1_000_000;
const queuedCalls = 100_000;
/** Records of ended calls, in addition to those of the queued ones. */
const endedRecords = 200_000;
const gibibyte = 1_073_741_824;
const writers = 64;
const body = "x".repeat(1_024);
/** Node.js options of processes where memory matters: V8 keeps less garbage. */
const small = { node: ["--max-semi-space-size=4", "--max-old-space-size=96"] };

/** Runs `act` `count` times, at most `writers` at once. */
async function repeat(count: number, act: () => Promise<void>): Promise<void> {
  let left = count;
  const one = async (): Promise<void> => {
    while (left-- > 0) await act();
  };
  await Promise.all(Array.from({ length: writers }, one));
}

async function queueOne(pool: Pool): Promise<number> {
  const response = await pool.request({ method: "POST", path: "/async-function/echo", body });
  await response.body.dump();
  return response.statusCode;
}

test("S19 gateway and worker need little memory with 100 000 queued calls and 300 000 records", async () => {
  await using platform = await openPlatform({
    slots: 16,
    gateway: small,
    worker: small,
    maxLength: 2 * queuedCalls,
    maxFileStore: 4 * gibibyte,
    server: { maxFileStore: 4 * gibibyte },
  });
  const server = await openFunctionServer((_request, response) => response.end("ok"));
  const pool = new Pool(platform.url, { connections: writers });
  try {
    await platform.deploy("echo", { addresses: [server.address] });
    await platform.worker.stop();
    const ended = sampleEntry({ state: "done", ended: Date.now(), status: 200, callback: null }, sampleCall());
    await repeat(endedRecords, async () => {
      const created = await platform.broker.ledger.create(randomUUID(), ended, performance.now() + 10_000);
      expect(created.kind).toBe("created");
    });
    await repeat(queuedCalls, async () => {
      // What a busy machine refuses for lack of time is sent again.
      await eventually(async () => (await queueOne(pool)) === 202, { what: "a call to be accepted" });
    });
    expect((await platform.broker.calls()).messages).toBeGreaterThanOrEqual(queuedCalls);

    await platform.worker.start();
    const most = { gateway: 0, worker: 0, broker: 0 };
    const sample = (): void => {
      most.gateway = Math.max(most.gateway, residentBytes(platform.gateway.pid));
      most.worker = Math.max(most.worker, residentBytes(platform.worker.pid));
      most.broker = Math.max(most.broker, residentBytes(platform.server.pid ?? 0));
    };
    const stop = new AbortController();
    const load = { gateway: platform.url, functionName: "echo", rate: 100, count: 1_000_000, timeout: 30_000 };
    const more = sendLoad({ ...load, body: () => body, signal: stop.signal });
    await eventually(
      async () => {
        sample();
        return (await platform.broker.calls()).messages < queuedCalls / 2;
      },
      { within: 600_000, every: 500, what: "half of the calls to be over" },
    );
    stop.abort();
    await more;
    const live = {
      gateway: (await platform.gateway.measure()).memory,
      worker: (await platform.worker.measure()).memory,
    };
    const inMegabytes = (bytes: number): string => `${Math.round(bytes / megabyte)} MB`;
    const [gateway, worker, broker] = [most.gateway, most.worker, most.broker].map(inMegabytes);
    figure("S19", `resident at the most: gateway ${gateway}, worker ${worker}, broker ${broker}`);
    figure("S19", `after a collection: gateway ${inMegabytes(live.gateway)}, worker ${inMegabytes(live.worker)}`);
    // Garbage in between is up to V8, which collects late where there is memory.
    expect(live.gateway).toBeLessThan(150 * megabyte);
    expect(live.worker).toBeLessThan(120 * megabyte);
  } finally {
    await pool.destroy();
    await server.close();
  }
});
