import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { needTool, pinned } from "../tools.ts";

const run = promisify(execFile);

const microseconds = new Map([
  ["us", 1],
  ["ms", 1_000],
  ["s", 1_000_000],
]);

/** A response that takes longer is an error; anything faster is measured. */
const timeout = "10s";

/** The load that `wrk` generates. */
export interface WrkLoad {
  readonly url: string;
  /** The core that `wrk` is pinned to; any when absent. */
  readonly core?: number;
  readonly connections: number;
  readonly seconds: number;
  /** Path of a Lua script that builds the requests; GET without a body when absent. */
  readonly script?: string;
  /** Headers of every request, as lines. */
  readonly headers?: readonly string[];
}

/**
 * The path of `wrk`.
 * @throws BenchSkipped when it is not available
 */
export function needWrk(): string {
  return needTool("wrk", "wrk");
}

/** Calls per second with one thread; every response must be a 2xx or 3xx. */
export async function callsPerSecond(program: string, load: WrkLoad): Promise<number> {
  const stdout = await loadWith(program, load);
  const rate = Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]);
  if (!(rate > 0)) throw new Error(`Cannot measure ${load.url}: no rate in the output of wrk\n${stdout}`);
  return rate;
}

/** Calls of which every one shall fail: how many a second with one thread, and how many in all. */
export async function failuresPerSecond(
  program: string,
  load: WrkLoad,
): Promise<{ readonly rate: number; readonly calls: number }> {
  const stdout = await outputOf(program, load);
  const rate = Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]);
  const calls = Number(/(\d+) requests in/.exec(stdout)?.[1]);
  const failed = Number(/Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1]);
  if (!(rate > 0) || failed !== calls || stdout.includes("Socket errors"))
    throw new Error(`Cannot measure ${load.url}: not every call failed as it should\n${stdout}`);
  return { rate, calls };
}

/** That percentile of the latency in microseconds, from sending a call to its complete response. */
export async function latencyBelow(program: string, percentile: 50 | 99, load: WrkLoad): Promise<number> {
  const stdout = await loadWith(program, load);
  const [, amount, unit = ""] = new RegExp(`^\\s+${percentile}%\\s+([\\d.]+)(us|ms|s)$`, "m").exec(stdout) ?? [];
  const latency = Number(amount) * (microseconds.get(unit) ?? Number.NaN);
  if (!(latency > 0)) throw new Error(`Cannot measure ${load.url}: no latency in the output of wrk\n${stdout}`);
  return latency;
}

/** The output of `wrk`; rejects if a call failed. */
async function loadWith(program: string, load: WrkLoad): Promise<string> {
  const stdout = await outputOf(program, load);
  if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(`Cannot measure ${load.url}: there were errors\n${stdout}`);
  return stdout;
}

async function outputOf(program: string, load: WrkLoad): Promise<string> {
  const { url, core, connections, seconds, script, headers = [] } = load;
  const scripted = script === undefined ? [] : ["-s", script];
  const line = [
    program,
    "-t1",
    `-c${connections}`,
    `-d${seconds}s`,
    "--latency",
    "--timeout",
    timeout,
    ...scripted,
    ...headers.flatMap((header) => ["-H", header]),
    url,
  ];
  const [command = "", ...args] = core === undefined ? line : pinned(core, line);
  const { stdout } = await run(command, args);
  return stdout;
}
