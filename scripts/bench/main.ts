import { writeFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { parseArgs } from "node:util";

import { BenchSkipped, type BenchRow } from "./bench-row.ts";
import { interleave, spreadOf, type ContestOutcome } from "./interleave.ts";
import { p1SyncCall } from "./p1-sync-call.ts";
import { p7QueuedCall } from "./p7-queued-call.ts";
import { formatJson, formatTable, type RowResult } from "./report.ts";
import { say } from "./tools.ts";

const rows: readonly BenchRow[] = [p1SyncCall, p7QueuedCall];
const resultFile = "bench-results.json";
const checkRuns = 3;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { check: { type: "boolean", default: false }, rounds: { type: "string", default: "5" } },
});
const rounds = Math.max(5, Number(values.rounds) || 5);
const unknown = positionals.filter((id) => !rows.some((row) => row.id === id));
if (unknown.length > 0) {
  say(`Cannot run ${unknown.join(", ")}: there are ${rows.map(({ id }) => id).join(", ")}`);
  process.exit(2);
}

const results: RowResult[] = [];
let failed = false;
for (const row of rows.filter(({ id }) => positionals.length === 0 || positionals.includes(id))) {
  const outcomes: ContestOutcome[] = [];
  try {
    for (let run = 0; run < (values.check ? checkRuns : 1); run += 1) {
      say(`${row.id}: ${row.what} against ${row.peer}, ${rounds} rounds`);
      outcomes.push(await measure(row));
    }
    const median = spreadOf(outcomes.map(({ ratio }) => ratio.median)).median;
    if (values.check && median < row.firstBar) {
      say(`${row.id} is below its bar: ${median.toFixed(3)} of ${row.firstBar}`);
      failed = true;
    }
    for (const outcome of outcomes) results.push({ row, outcome });
  } catch (err) {
    if (!(err instanceof BenchSkipped)) throw err;
    say(`${row.id} is skipped: ${err.message}`);
    results.push({ row, skipped: err.message });
  }
}
process.stdout.write(`${formatTable(results)}\n`);
const machine = {
  node: process.version,
  platform: process.platform,
  cores: availableParallelism(),
  cpu: cpus()[0]?.model,
};
writeFileSync(resultFile, formatJson(results, machine));
say(`Written to ${resultFile}`);
process.exitCode = failed ? 1 : 0;

async function measure(row: BenchRow): Promise<ContestOutcome> {
  const contest = await row.open();
  try {
    return await interleave(contest, rounds);
  } finally {
    await contest.close();
  }
}
