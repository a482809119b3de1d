import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

import { alignColumns } from "../align-columns.ts";
import { openBenchPlatform } from "../queue/bench-platform.ts";
import { say } from "../tools.ts";
import { fillWithFunctions } from "./fill-with-functions.ts";

/** Costs of counting, in microseconds per call. */
export interface CountingCosts {
  readonly gateway: number;
  readonly worker: number;
  readonly reporting: number;
  readonly hearing: number;
}

/** Costs of an idle autoscaler. */
export interface RestCosts {
  /** CPU time as a share of one core, 0 to 1. */
  readonly share: number;
  /** Milliseconds of the shortest sweep over all functions. */
  readonly sweep: number;
}

const bars = { perCall: 1, share: 0.01 };
const functions = 10_000;

/**
 * `npm run bench -- activity`: measures what it costs to count calls, and what functions at rest cost the autoscaler,
 * each in a separate process. Resolves with the exit code: 1 if a cost is beyond its bar.
 */
export async function benchActivity(): Promise<number> {
  say("activity: counting calls");
  const costs = await measureIn<CountingCosts>("counting.ts");
  const perCall = Math.max(costs.gateway, costs.worker) + costs.reporting + costs.hearing;
  const rest = await measureAtRest();
  const microseconds = (value: number): string => `${value.toFixed(3)} µs`;
  const percent = (value: number): string => `${(100 * value).toFixed(2)} %`;
  const verdict = (good: boolean): string => (good ? "good" : "beyond the bar");
  const lines = [
    ["what", "cost", "bar", "verdict"],
    ["a call counted by a gateway", microseconds(costs.gateway)],
    ["a run counted by a queue-worker", microseconds(costs.worker)],
    ["its share of a report, 1 000 calls of 100 functions in it", microseconds(costs.reporting)],
    ["its share of what the autoscaler does with that", microseconds(costs.hearing)],
    ["all of it, per call", microseconds(perCall), `≤ ${bars.perCall} µs`, verdict(perCall <= bars.perCall)],
    [`the autoscaler with ${functions} functions at rest`, percent(rest.share), `≤ ${percent(bars.share)} of a core`],
    ["one look at all of them", `${rest.sweep.toFixed(1)} ms`],
  ];
  lines[6]?.push(verdict(rest.share <= bars.share));
  process.stdout.write(`${alignColumns(lines)}\n`);
  return perCall <= bars.perCall && rest.share <= bars.share ? 0 : 1;
}

async function measureAtRest(): Promise<RestCosts> {
  say(`activity: ${functions} functions at rest`);
  const platform = await openBenchPlatform({ slots: 1, worker: true, functionPort: 1 });
  try {
    await fillWithFunctions(platform.link, functions);
    return await measureIn<RestCosts>("at-rest.ts", platform.url, String(functions));
  } finally {
    await platform.close();
  }
}

async function measureIn<T>(program: string, ...args: readonly string[]): Promise<T> {
  const { stdout } = await promisify(execFile)(process.execPath, [join(import.meta.dirname, program), ...args]);
  return JSON.parse(stdout);
}
