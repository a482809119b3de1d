import { readFile, writeFile } from "node:fs/promises";
import { basename } from "node:path";

import { addCounts } from "./count-results.ts";
import type { SuiteResult } from "./run-suite.ts";

/** Writes the result of a run for who adds several up. */
export async function writeResult(file: string, result: SuiteResult): Promise<void> {
  await writeFile(file, `${JSON.stringify(result)}\n`);
}

/** The sum of the results in `files`; one that is not there, or not whole, is a run that did not come to its end: a failure. */
export async function readResults(files: readonly string[]): Promise<SuiteResult> {
  const results = await Promise.all(files.map(readResult));
  return {
    counts: addCounts(results.map(({ counts }) => counts)),
    failures: results.flatMap(({ failures }) => failures),
  };
}

async function readResult(file: string): Promise<SuiteResult> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as SuiteResult;
  } catch {
    const failures = [`${basename(file, ".json")}: did not come to an end`];
    return { counts: { passed: 0, failed: 1, skipped: 0 }, failures };
  }
}
