import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";

import type { Environment } from "../../runtime/adapters/nats/server/run-command.ts";
import { countResults, type Counts, type VitestReport } from "./count-results.ts";

/** Kinds of tests, in the order in which they run; each is a project of vitest.config.ts. */
export const suites = ["unit", "integration", "e2e"] as const;

export type Suite = (typeof suites)[number];

/** Runs one suite with its output on this terminal; `root` is the repository, `reports` a directory to write to. */
export async function runSuite(suite: Suite, root: string, reports: string, environment: Environment): Promise<Counts> {
  const report = join(reports, `${suite}.json`);
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const child = spawn(process.execPath, [vitest, "run", "--project", suite, ...reporters], {
    cwd: root,
    env: { ...environment },
    stdio: ["ignore", "inherit", "inherit"],
  });
  const [code] = await once(child, "exit");
  const counts = countResults(await readReport(report));
  await rm(report, { force: true });
  return code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
}

async function readReport(file: string): Promise<VitestReport | undefined> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as VitestReport;
  } catch {
    return undefined;
  }
}
