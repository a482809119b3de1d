// Sends calls at a constant rate, each at its due time whether or not earlier ones have ended, and prints the latency.
// Arguments: URL, calls per second, number of warm-up calls, of measured calls and of connections, and the quantile.
import { Worker } from "node:worker_threads";

import { quantile } from "../../test/support/load.ts";
import { openKeptConnection, type KeptConnection } from "./kept-connection.ts";
import type { MetronomeData } from "./metronome.ts";
import type { SteadyLatency } from "./steady-latency.ts";
import { preciseNow } from "../../test/support/precise-now.ts";

const [url = "", ...numbers] = process.argv.slice(2);
const [rate = 0, before = 0, counted = 0, connections = 0, share = 0] = numbers.map(Number);
const { host, port, pathname } = new URL(url);
const total = before + counted;
const interval = 1_000 / rate;
const ticked = new Int32Array(new SharedArrayBuffer(4));
const call = Buffer.from(`GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);

const latencies = new Float64Array(total);
/** Delay of the sender itself, for calls that had a free connection at their due time. */
const lateness: number[] = [];
const idle: KeptConnection[] = [];
const inFlight = new Map<KeptConnection, number>();
const done = Promise.withResolvers<void>();
let begin = 0;
let sent = 0;
let ended = 0;

const dueAt = (sequence: number): number => begin + sequence * interval;

/** Sends the calls that are due, as long as connections are free. */
function sendDue(): void {
  const at = preciseNow();
  for (; sent < total && dueAt(sent) <= at; sent++) {
    const connection = idle.pop();
    if (connection === undefined) return;
    inFlight.set(connection, sent);
    connection.send();
  }
}

function onAnswer(connection: KeptConnection): void {
  const sequence = inFlight.get(connection) ?? 0;
  latencies[sequence] = preciseNow() - dueAt(sequence);
  idle.push(connection);
  ended++;
  if (ended === total) done.resolve();
  else sendDue();
}

/** Sends at every tick; the count shows ticks that were missed. */
async function followTicks(): Promise<void> {
  for (let seen = 0; sent < total; sendDue()) {
    const tick = Atomics.waitAsync(ticked, 0, seen);
    if (tick.async) await tick.value;
    seen = Atomics.load(ticked, 0);
    if (idle.length > 0 && sent >= before) lateness.push(preciseNow() - dueAt(sent));
  }
}

const pool = await Promise.all(
  Array.from({ length: connections }, () =>
    openKeptConnection({ port: Number(port), call, onAnswer, onFailure: done.reject }),
  ),
);
idle.push(...pool);
// In the future, so the thread runs before the first tick.
begin = preciseNow() + 200;
const workerData: MetronomeData = { begin, interval, ticks: total, ticked };
const metronome = new Worker(new URL("metronome.ts", import.meta.url), { workerData });
metronome.on("error", done.reject);
followTicks().catch(done.reject);
await done.promise;
await metronome.terminate();
for (const connection of pool) connection.close();

const result: SteadyLatency = {
  latency: quantile(inOrder(latencies.subarray(before)), share),
  // 0 if no call found a free connection.
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
