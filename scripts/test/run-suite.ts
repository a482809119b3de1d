import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";

import type { Environment } from "../../runtime/adapters/nats/server/run-command.ts";
import { addCounts, countResults, type Counts, type VitestReport } from "./count-results.ts";
import { listFailures, listSecondTries } from "./list-failures.ts";

/**
 * Kinds of tests, in the order in which they run; each is a project of vitest.config.ts. Those that measure what others on
 * the machine would disturb run alone, one file after the other.
 */
export const suites = ["unit", "integration", "alone", "e2e"] as const;

export type Suite = (typeof suites)[number];

/** What can be run: a suite, or the tests on a Kubernetes cluster, which `npm test` leaves out. */
export type Project = Suite | "cluster";

/** How many files run at the same time. Those of integration wait for others most of their time. */
const atOnce: Readonly<Record<Project, readonly string[]>> = {
  unit: [],
  integration: ["--maxWorkers=3"],
  alone: ["--no-file-parallelism"],
  e2e: [],
  cluster: [],
};

export interface SuiteResult {
  readonly counts: Counts;
  /** What failed, each with the start of what it says. */
  readonly failures: readonly string[];
  /** What passed only when it was tried again, each with the start of what it said first. */
  readonly secondTries: readonly string[];
}

/** Failures that are no test's. */
export function failedResult(failures: readonly string[]): SuiteResult {
  return { counts: { passed: 0, failed: failures.length, skipped: 0 }, failures, secondTries: [] };
}

/** The result of several runs. */
export function addResults(results: readonly SuiteResult[]): SuiteResult {
  return {
    counts: addCounts(results.map(({ counts }) => counts)),
    failures: results.flatMap(({ failures }) => failures),
    secondTries: results.flatMap(({ secondTries }) => secondTries),
  };
}

export interface RunSuiteOptions {
  /** The repository. */
  readonly root: string;
  /** A directory to write to. */
  readonly reports: string;
  readonly environment: Environment;
  /** Only files whose path has one of these in it; all when absent. */
  readonly files?: readonly string[];
  /** One file after the other. */
  readonly inTurn?: boolean;
  /** Whether a test that failed is tried again; as vitest.config.ts says when absent. */
  readonly secondTry?: false;
  /** Ends the run, as Ctrl-C does. */
  readonly signal?: AbortSignal;
}

/** Runs one suite with its output on this terminal. */
export async function runSuite(
  suite: Project,
  { root, reports, environment, files = [], inTurn = false, secondTry, signal }: RunSuiteOptions,
): Promise<SuiteResult> {
  const report = join(reports, `${suite}.json`);
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const choice = files.length === 0 ? [] : ["--passWithNoTests", ...files];
  const order = inTurn ? ["--no-file-parallelism"] : [];
  const tries = secondTry === false ? ["--retry=0"] : [];
  const child = spawn(
    process.execPath,
    [vitest, "run", "--project", suite, ...atOnce[suite], ...order, ...tries, ...reporters, ...choice],
    {
      cwd: root,
      env: { ...environment },
      stdio: ["ignore", "inherit", "inherit"],
    },
  );
  const end = (): void => void child.kill("SIGTERM");
  signal?.addEventListener("abort", end, { once: true });
  const [code] = await once(child, "exit");
  signal?.removeEventListener("abort", end);
  const read = await readReport(report);
  await rm(report, { force: true });
  const counts = countResults(read);
  const failures = listFailures(suite, root, read);
  const secondTries = listSecondTries(suite, root, read);
  if (code === 0 || counts.failed > 0) return { counts, failures, secondTries };
  return { counts: { ...counts, failed: 1 }, failures: [...failures, `${suite}: ended with ${code}`], secondTries };
}

async function readReport(file: string): Promise<VitestReport | undefined> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as VitestReport;
  } catch {
    return undefined;
  }
}
