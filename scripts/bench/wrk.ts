import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { pinned } from "./tools.ts";

const run = promisify(execFile);

/** Calls per second that `wrk` gets from `url` over `connections`, on one core; every answer must be a 2xx or 3xx. */
export async function callsPerSecond(
  program: string,
  options: { readonly url: string; readonly core: number; readonly connections: number; readonly seconds: number },
): Promise<number> {
  const { url, core, connections, seconds } = options;
  const [command = "", ...args] = pinned(core, [program, "-t1", `-c${connections}`, `-d${seconds}s`, url]);
  const { stdout } = await run(command, args);
  if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(`Cannot measure ${url}: there were errors\n${stdout}`);
  const rate = Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]);
  if (!(rate > 0)) throw new Error(`Cannot measure ${url}: no rate in the output of wrk\n${stdout}`);
  return rate;
}
