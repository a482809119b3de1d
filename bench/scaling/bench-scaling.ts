import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { tempDirectory } from "../../test/support/temp-directory.ts";
import { startWeir } from "../../test/support/weir-process.ts";
import { alignColumns } from "../align-columns.ts";
import { say } from "../tools.ts";
import { drawRuns } from "./draw-run.ts";
import { judgeScaling, type ScalingVerdict } from "./judge-scaling.ts";
import { pace, runScenario, scalingFlags } from "./run-scenario.ts";
import { scenarios } from "./scenario.ts";

/**
 * `npm run bench -- scaling [--svg DIR] [names…]`: loads a separate Weir, one scenario after the other, and prints how
 * replicas followed. Resolves with the exit code: 1 if a run did not pass, 2 for an unknown name.
 */
export async function benchScaling(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { svg: { type: "string" } },
  });
  const chosen = scenarios.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  const unknown = positionals.filter((name) => !chosen.some((scenario) => scenario.name === name));
  if (unknown.length > 0) {
    say(`Cannot run ${unknown.join(", ")}: there are ${scenarios.map(({ name }) => name).join(", ")}`);
    return 2;
  }
  if (values.svg !== undefined) mkdirSync(values.svg, { recursive: true });

  const verdicts: ScalingVerdict[] = [];
  await using data = await tempDirectory("bench-scaling");
  await using weir = await startWeir({ data: data.path, flags: scalingFlags });
  try {
    for (const scenario of chosen) {
      say(`${scenario.name}: ${scenario.seconds} s`);
      const runs = await runScenario(weir, scenario);
      if (values.svg !== undefined) {
        writeFileSync(join(values.svg, `${scenario.name}.svg`), drawRuns(scenario.name, runs, pace));
      }
      const judged = runs.map((run) => ({
        ...judgeScaling(run, pace),
        name: runs.length === 1 ? scenario.name : `${scenario.name}: ${run.name}`,
      }));
      for (const { name, faults } of judged) for (const fault of faults) say(`${name}: ${fault}`);
      verdicts.push(...judged);
    }
  } finally {
    process.stdout.write(`${formatVerdicts(verdicts)}\n`);
  }
  await weir.stop();
  return verdicts.every(({ faults }) => faults.length === 0) ? 0 : 1;
}

const columns = [
  "run",
  "calls",
  "failed",
  "peak",
  "beside",
  "changes",
  "expected",
  "median",
  "slowest",
  "verdict",
] as const;

function formatVerdicts(verdicts: readonly ScalingVerdict[]): string {
  const lines = verdicts.map((verdict) => [
    verdict.name,
    String(verdict.calls),
    String(verdict.failedCalls),
    String(verdict.peak),
    String(verdict.distance),
    String(verdict.changes),
    String(verdict.expectedChanges),
    `${verdict.median.toFixed(0)} ms`,
    `${verdict.slowest.toFixed(0)} ms`,
    verdict.faults.length === 0 ? "good" : verdict.faults.join("; "),
  ]);
  return alignColumns([columns, ...lines]);
}
