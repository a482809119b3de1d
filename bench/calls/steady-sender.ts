// Sends calls at a constant rate, each when it is due whether or not earlier ones are answered, and prints what they took.
// Arguments: address, calls a second, how many go before and do not count, how many count, connections, the share.
import { Worker } from "node:worker_threads";

import { quantile } from "../../test/support/load.ts";
import { openKeptConnection, type KeptConnection } from "./kept-connection.ts";
import type { MetronomeData } from "./metronome.ts";
import type { SteadyLatency } from "./steady-latency.ts";

const [url = "", ...numbers] = process.argv.slice(2);
const [rate = 0, before = 0, counted = 0, connections = 0, share = 0] = numbers.map(Number);
const { host, port, pathname } = new URL(url);
const total = before + counted;
const interval = 1_000 / rate;
const ticked = new Int32Array(new SharedArrayBuffer(4));
const call = Buffer.from(`GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);

const latencies = new Float64Array(total);
/** How late the sender was by itself: of those that had a free connection when they were due. */
const lateness: number[] = [];
const idle: KeptConnection[] = [];
const inFlight = new Map<KeptConnection, number>();
const done = Promise.withResolvers<void>();
let begin = 0;
let sent = 0;
let answered = 0;

const now = (): number => performance.timeOrigin + performance.now();
const dueAt = (sequence: number): number => begin + sequence * interval;

/** Sends what is due over those connections that are free. */
function sendDue(): void {
  const at = now();
  for (; sent < total && dueAt(sent) <= at; sent++) {
    const connection = idle.pop();
    if (connection === undefined) return;
    inFlight.set(connection, sent);
    connection.send();
  }
}

function onAnswer(connection: KeptConnection): void {
  const sequence = inFlight.get(connection) ?? 0;
  latencies[sequence] = now() - dueAt(sequence);
  idle.push(connection);
  answered++;
  if (answered === total) done.resolve();
  else sendDue();
}

/** Sends at every tick; one that comes meanwhile is seen by the count. */
async function followTicks(): Promise<void> {
  for (let heard = 0; sent < total; sendDue()) {
    const tick = Atomics.waitAsync(ticked, 0, heard);
    if (tick.async) await tick.value;
    heard = Atomics.load(ticked, 0);
    if (idle.length > 0 && sent >= before) lateness.push(now() - dueAt(sent));
  }
}

const pool = await Promise.all(
  Array.from({ length: connections }, () =>
    openKeptConnection({ port: Number(port), call, onAnswer, onFailure: done.reject }),
  ),
);
idle.push(...pool);
// A while from now, so that the thread is there at the first tick.
begin = now() + 200;
const workerData: MetronomeData = { begin, interval, ticks: total, ticked };
const metronome = new Worker(new URL("metronome.ts", import.meta.url), { workerData });
metronome.on("error", done.reject);
followTicks().catch(done.reject);
await done.promise;
await metronome.terminate();
for (const connection of pool) connection.close();

const result: SteadyLatency = {
  latency: quantile(inOrder(latencies.subarray(before)), share),
  // Never when there never was a free connection.
  late:
    lateness.length === 0
      ? 0
      : quantile(
          lateness.toSorted((a, b) => a - b),
          share,
        ),
};
process.stdout.write(`${JSON.stringify(result)}\n`);

function inOrder(times: ArrayLike<number>): number[] {
  return Array.from(times).sort((a, b) => a - b);
}
