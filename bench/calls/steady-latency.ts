import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

import { pinned } from "../tools.ts";

const run = promisify(execFile);

/** Seconds of calls that go before and do not count, and seconds that do. */
const seconds = { before: 1, counted: 4 } as const;
/** So few tell nothing of one in a thousand. */
const fewestCalls = 20_000;
/** How much longer than planned a measurement may last. */
const patience = 60_000;

/** A load at a constant rate. */
export interface SteadyLoad {
  readonly url: string;
  /** The core it stays on. */
  readonly core: number;
  /** Calls a second. */
  readonly rate: number;
  readonly connections: number;
  /** Of the latencies, the one below which that share of them lies is asked for; 0 to 1. */
  readonly share: number;
}

/** Milliseconds below which the share of the load lies. */
export interface SteadyLatency {
  /** From when a call was due to its whole answer, so that a stall counts for all that it held up. */
  readonly latency: number;
  /** How late the sender was by itself, which is in `latency` too. */
  readonly late: number;
}

/** Sends calls when they are due from a process of its own. */
export async function steadyLatency({ url, core, rate, connections, share }: SteadyLoad): Promise<SteadyLatency> {
  const before = Math.ceil(rate * seconds.before);
  const counted = Math.max(fewestCalls, Math.ceil(rate * seconds.counted));
  const sender = join(import.meta.dirname, "steady-sender.ts");
  const numbers = [rate, before, counted, connections, share].map(String);
  const [command = "", ...args] = pinned(core, [process.execPath, sender, url, ...numbers]);
  const timeout = Math.ceil(((before + counted) / rate) * 1_000) + patience;
  const { stdout } = await run(command, args, { timeout });
  return JSON.parse(stdout);
}
