import { writeFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { parseArgs } from "node:util";

import { benchActivity } from "./activity/bench-activity.ts";
import { BenchSkipped, type BenchRow } from "./bench-row.ts";
import { benchCli } from "./cli/bench-cli.ts";
import { missesBar, needsAnotherRun } from "./check-runs.ts";
import { interleave, type ContestOutcome } from "./interleave.ts";
import { benchMixed } from "./mixed/bench-mixed.ts";
import { formatJson, formatTable, type RowResult } from "./report.ts";
import { rows } from "./rows/rows.ts";
import { benchScaling } from "./scaling/bench-scaling.ts";
import { say } from "./tools.ts";

// Not contests: they have no peer, only a rule to keep.
const standalone = new Map([
  ["scaling", benchScaling],
  ["activity", benchActivity],
  ["mixed", benchMixed],
  ["cli", benchCli],
]);
const chosen = standalone.get(process.argv[2] ?? "");
if (chosen !== undefined) {
  // Child processes end with this process, however it ends.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
  process.exit(await chosen(process.argv.slice(3)));
}

/** Several rows by one word. */
const groups: ReadonlyMap<string, RegExp> = new Map([["console", /^C\d+$/]]);

const resultFile = "bench-results.json";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { check: { type: "boolean", default: false }, rounds: { type: "string", default: "5" } },
});
const rounds = Math.max(5, Number(values.rounds) || 5);
const isChosen = (id: string, word: string): boolean => groups.get(word)?.test(id) ?? id === word;
const unknown = positionals.filter((word) => !rows.some(({ id }) => isChosen(id, word)));
if (unknown.length > 0) {
  const all = [...new Set(rows.map(({ id }) => id)), ...groups.keys(), ...standalone.keys()];
  say(`Cannot run ${unknown.join(", ")}: there are ${all.join(", ")}`);
  process.exit(2);
}

/** Rejects on SIGINT or SIGTERM, so the open contest is closed first; a second signal ends the process at once. */
const interruption = Promise.withResolvers<never>();
interruption.promise.catch(() => {});
let interrupted = false;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    interrupted = true;
    interruption.reject(new Error(`The bench was ended by ${signal}`));
  });
}

const machine = {
  node: process.version,
  platform: process.platform,
  cores: availableParallelism(),
  cpu: cpus()[0]?.model,
};
const results: RowResult[] = [];
let failed = false;
for (const row of rows.filter(({ id }) => positionals.length === 0 || positionals.some((word) => isChosen(id, word)))) {
  if (interrupted) break;
  const outcomes: ContestOutcome[] = [];
  try {
    do {
      say(`${row.id}: ${row.what} against ${row.peer}, ${rounds} rounds`);
      outcomes.push(await measure(row));
    } while (values.check && needsAnotherRun(row, outcomes));
    if (values.check && missesBar(row, outcomes)) {
      const measured = outcomes.map(({ judged }) => judged.median.toFixed(3)).join(", ");
      say(`${row.id} misses its bar of ${row.firstBar}: ${measured}`);
      failed = true;
    }
    for (const outcome of outcomes) results.push({ row, outcome });
  } catch (err) {
    const message = err instanceof Error ? err.message : String(err);
    const skipped = err instanceof BenchSkipped;
    say(`${row.id} ${skipped ? "is skipped" : "cannot be measured"}: ${message}`);
    // The other rows are still measured.
    results.push(skipped ? { row, skipped: message } : { row, failed: message });
    failed ||= !skipped;
  }
  // After each row, so a later failure does not lose hours of measurements.
  writeFileSync(resultFile, formatJson(results, machine));
}
process.stdout.write(`${formatTable(results)}\n`);
say(`Written to ${resultFile}`);
process.exitCode = failed ? 1 : 0;

async function measure(row: BenchRow): Promise<ContestOutcome> {
  const contest = await row.open();
  try {
    return await Promise.race([interruption.promise, interleave(contest, rounds, row.judged ?? "ratio")]);
  } finally {
    await contest.close();
  }
}
