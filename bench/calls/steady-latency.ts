import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

import { pinned } from "../tools.ts";

const run = promisify(execFile);

/** Seconds of warm-up calls, and of measured calls. */
const seconds = { before: 1, counted: 4 } as const;
/** Fewer calls say nothing about one in a thousand. */
const fewestCalls = 20_000;
/** Milliseconds that a measurement may last beyond its planned length. */
const grace = 60_000;

/** A load at a constant rate. */
export interface SteadyLoad {
  readonly url: string;
  /** The core that the sender is pinned to. */
  readonly core: number;
  /** Calls per second. */
  readonly rate: number;
  readonly connections: number;
  /** The quantile of the latencies to be measured, 0 to 1. */
  readonly share: number;
}

/** The quantile of a load, in milliseconds. */
export interface SteadyLatency {
  /** From when a call was due to its complete response, so a stall counts for every call that it delayed. */
  readonly latency: number;
  /** Delay of the sender itself, which is included in `latency`. */
  readonly late: number;
}

/** Sends calls at their due times from a separate process. */
export async function steadyLatency({ url, core, rate, connections, share }: SteadyLoad): Promise<SteadyLatency> {
  const before = Math.ceil(rate * seconds.before);
  const counted = Math.max(fewestCalls, Math.ceil(rate * seconds.counted));
  const sender = join(import.meta.dirname, "steady-sender.ts");
  const numbers = [rate, before, counted, connections, share].map(String);
  const [command = "", ...args] = pinned(core, [process.execPath, sender, url, ...numbers]);
  const timeout = Math.ceil(((before + counted) / rate) * 1_000) + grace;
  const { stdout } = await run(command, args, { timeout });
  return JSON.parse(stdout);
}
