import { readFile, writeFile } from "node:fs/promises";
import { basename } from "node:path";

import { failedResult, type SuiteResult } from "./read-report.ts";
import { addResults } from "./run-suite.ts";

/** Writes the result of a run, so that several can be added up. */
export async function writeResult(file: string, result: SuiteResult): Promise<void> {
  await writeFile(file, `${JSON.stringify(result)}\n`);
}

/**
 * The sum of the results in `files`; a missing or incomplete file is a run that did not finish, and counts as a
 * failure.
 */
export async function readResults(files: readonly string[]): Promise<SuiteResult> {
  return addResults(await Promise.all(files.map(readResult)));
}

async function readResult(file: string): Promise<SuiteResult> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as SuiteResult;
  } catch {
    return failedResult([`${basename(file, ".json")}: did not come to an end`]);
  }
}
