import { globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, matchesGlob, relative } from "node:path";

import type { MutantResult } from "@stryker-mutator/api/core";
import { Stryker } from "@stryker-mutator/core";
import { Command } from "commander";

import { positive } from "../whole-number.ts";
import { countScore, percentFound, scoreFiles, type Score } from "./score.ts";
import { filesOfShare, readShare, type Share } from "./share.ts";

const leastPercent = 85;

interface CommandOptions {
  readonly concurrency: number;
  readonly force: boolean;
  readonly share?: Share;
  readonly skipStatic: boolean;
}

const command = new Command("npm run mutation --")
  .description(`Changes code one expression at a time, and fails if tests notice fewer than ${leastPercent} % of that.`)
  .argument("[files...]", "what is changed, patterns", ["runtime/core/**/*.ts"])
  .option("--concurrency <number>", "how many changes are tried at once", positive, 2)
  .option("--force", "try each again, even if neither the file nor its tests changed", false)
  .option(
    "--share <part>",
    "try a part of the files: 2/7, or today for the seventh of this day of the week",
    (text: string) => readShare(text, new Date()),
  )
  .option("--skip-static", "leave out code that runs when a file is loaded: it takes a run of all tests each", false)
  .helpOption("--help", "show this")
  .parse();
const options = command.opts<CommandOptions>();
const patterns = command.processedArgs.flat().map(String);

const root = join(import.meta.dirname, "../..");
process.chdir(root);
const mutate = options.share === undefined ? patterns : filesOfShare(globSync(patterns), options.share);
// Outside of the repository: other commands read all files in it.
const tempDirName = mkdtempSync(join(tmpdir(), "weir-mutation-"));
// Also when it is interrupted.
process.once("exit", () => rmSync(tempDirName, { recursive: true, force: true }));
const stryker = new Stryker({
  configFile: "scripts/mutation/stryker.config.json",
  mutate,
  concurrency: options.concurrency,
  force: options.force,
  ignoreStatic: options.skipStatic,
  tempDirName,
});
report(await stryker.runMutationTest());

function report(results: readonly MutantResult[]): void {
  const all = results.map((one) => ({ ...one, fileName: relative(root, one.fileName) }));
  // The results include those of earlier runs, also for other files.
  const named = all.filter(({ fileName }) => mutate.some((pattern) => matchesGlob(fileName, pattern)));
  for (const one of named) if (one.status === "Survived" || one.status === "NoCoverage") console.log(survivorLine(one));
  console.log("\n  score  mutants  killed  survived  no coverage  timeouts  errors");
  for (const score of scoreFiles(named)) console.log(scoreLine(score));
  const total = countScore("total", named);
  console.log(scoreLine(total));
  if (percentFound(total) >= leastPercent) return;
  console.error(`Fewer than ${leastPercent} % of the mutants were found.`);
  process.exitCode = 1;
}

function survivorLine({ fileName, location, mutatorName, replacement, status }: MutantResult): string {
  const { line, column } = location.start;
  const uncovered = status === "NoCoverage" ? ", no coverage" : "";
  return `${fileName}:${line}:${column} ${mutatorName}${uncovered}: ${(replacement ?? "").replaceAll(/\s+/g, " ")}`;
}

function scoreLine(score: Score): string {
  const { mutants, killed, survived, noCoverage, timeouts, errors, name } = score;
  const cells = [
    [mutants, 9],
    [killed, 8],
    [survived, 10],
    [noCoverage, 13],
    [timeouts, 10],
    [errors, 8],
  ] as const;
  const percent = `${percentFound(score).toFixed(1)} %`.padStart(7);
  return `${percent}${cells.map(([cell, width]) => String(cell).padStart(width)).join("")}  ${name}`;
}
