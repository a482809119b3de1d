import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Command } from "commander";

import { failedResult, type SuiteResult } from "../test/read-report.ts";
import { readResults } from "../test/result-file.ts";
import { addResults } from "../test/run-suite.ts";
import { exitCodeOf, sayResult } from "../test/say-result.ts";
import { longestNight, nightlyRows, type NightlyRow } from "./rows.ts";
import { runRow, type RowEnd } from "./run-row.ts";

const root = join(import.meta.dirname, "..", "..");
const abort = new AbortController();
for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => abort.abort());

const names = nightlyRows.map(({ name }) => name).join(", ");
const command = new Command("npm run test:nightly --")
  .description(`Runs checks that take too long to run for each change, at most ${longestNight} minutes in all.`)
  .argument("[rows...]", `of ${names}; all when none is named`)
  .option("--report <file>", "also writes there how each row ended, as JSON", "nightly-report.json")
  .helpOption("--help", "show this")
  .action(async (chosen: readonly string[], { report }: { report: string }) => {
    const unknown = chosen.filter((name) => !nightlyRows.some((row) => row.name === name));
    if (unknown.length > 0) {
      console.error(`Cannot run rows "${unknown.join(" ")}": they are ${names}`);
      process.exitCode = 2;
      return;
    }
    const { ends, result } = await run(nightlyRows.filter(({ name }) => chosen.length === 0 || chosen.includes(name)));
    await writeFile(report, `${JSON.stringify({ rows: ends, ...result }, undefined, 2)}\n`);
    console.log(`\n${ends.map(line).join("\n")}`);
    sayResult(result);
    process.exitCode = exitCodeOf(result, abort.signal.aborted);
  });

await command.parseAsync();

async function run(rows: readonly NightlyRow[]): Promise<{ ends: readonly RowEnd[]; result: SuiteResult }> {
  const reports = await mkdtemp(join(tmpdir(), "weir-nightly-"));
  const ends: RowEnd[] = [];
  const results: SuiteResult[] = [];
  try {
    for (const row of rows) {
      if (abort.signal.aborted) break;
      console.log(`\n${row.name}: npm run ${[row.script, "--", ...row.args].join(" ")}, at most ${row.minutes} min`);
      const report = join(reports, `${row.name}.json`);
      const end = await runRow(row, { root, report, signal: abort.signal });
      console.log(line(end));
      ends.push(end);
      results.push(await resultOf(row, end, report));
    }
    return { ends, result: addResults(results) };
  } finally {
    await rm(reports, { recursive: true, force: true });
  }
}

/** The counts of its tests; a row that failed has at least one failure, whatever they say. */
async function resultOf(row: NightlyRow, { outcome }: RowEnd, report: string): Promise<SuiteResult> {
  const own = row.hasReport ? await readResults([report]) : failedResult([]);
  if (outcome !== "passed")
    return own.counts.failed > 0 ? own : addResults([own, failedResult([`${row.name}: ${outcome}`])]);
  return row.hasReport ? own : { ...own, counts: { passed: 1, failed: 0, skipped: 0 } };
}

function line({ name, outcome, seconds }: RowEnd): string {
  return `${name}: ${outcome} after ${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
