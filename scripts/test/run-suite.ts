import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import type { Environment } from "../../runtime/adapters/nats/server/run-command.ts";
import { addCounts } from "./counts.ts";
import { readQuarantine } from "./quarantine.ts";
import { readReport, type SuiteResult, type VitestReport } from "./read-report.ts";
import type { Project } from "./tiers.ts";

/**
 * How many files run at the same time. Tests of whole processes spend most of their time waiting; those of the night measure, or fill a cluster
 * with thousands of objects.
 */
const atOnce: Readonly<Partial<Record<Project, readonly string[]>>> = {
  integration: ["--maxWorkers=3"],
  e2e: ["--maxWorkers=3"],
  alone: ["--no-file-parallelism"],
  nightly: ["--no-file-parallelism"],
  "nightly-cluster": ["--no-file-parallelism"],
};

/** Characters of what a suite prints as errors that are kept for its result. */
const keptOutput = 4_096;

/** The result of several runs. */
export function addResults(results: readonly SuiteResult[]): SuiteResult {
  return {
    counts: addCounts(results.map(({ counts }) => counts)),
    failures: results.flatMap(({ failures }) => failures),
    quarantined: results.flatMap(({ quarantined }) => quarantined),
  };
}

export interface RunSuiteOptions {
  /** The repository. */
  readonly root: string;
  /** A directory to write to. */
  readonly reports: string;
  readonly environment: Environment;
  /** Only files whose path contains one of these; all when absent. */
  readonly files?: readonly string[];
  /** One file after the other. */
  readonly inTurn?: boolean;
  /** Ends the run, as Ctrl-C does. */
  readonly signal?: AbortSignal;
}

/** Runs one suite with its output on this terminal. */
export async function runSuite(
  suite: Project,
  { root, reports, environment, files = [], inTurn = false, signal }: RunSuiteOptions,
): Promise<SuiteResult> {
  const report = join(reports, `${suite}.json`);
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  const errors = join(reports, `${suite}-errors.json`);
  const reporters = [
    "--reporter=default",
    "--reporter=json",
    `--reporter=${join(import.meta.dirname, "errors-reporter.ts")}`,
  ];
  const outputs = [`--outputFile.json=${report}`, `--outputFile.errors=${errors}`];
  const choice = files.length === 0 ? [] : ["--passWithNoTests", ...files];
  const order = inTurn ? ["--no-file-parallelism"] : [];
  const child = spawn(
    process.execPath,
    [vitest, "run", "--project", suite, ...(atOnce[suite] ?? []), ...order, ...reporters, ...outputs, ...choice],
    {
      cwd: root,
      env: { ...environment },
      stdio: ["ignore", "inherit", "pipe"],
    },
  );
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said = `${said}${text}`.slice(-keptOutput)));
  child.stderr.pipe(process.stderr, { end: false });
  const saidAll = once(child.stderr, "close");
  const end = (): void => void child.kill("SIGTERM");
  signal?.addEventListener("abort", end, { once: true });
  const [code] = (await once(child, "exit")) as [number | null];
  signal?.removeEventListener("abort", end);
  // A process that was left behind may hold the pipe.
  await Promise.race([saidAll, pause(1_000)]);
  child.stderr.destroy();
  const quarantine = await readQuarantine(root);
  const outside = (await parsed<readonly string[]>(errors)) ?? [];
  const result = readReport(await parsed<VitestReport>(report), { suite, root, quarantine, code, outside, said });
  await Promise.all([report, errors].map((file) => rm(file, { force: true })));
  return result;
}

async function parsed<T>(file: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as T;
  } catch {
    return undefined;
  }
}
