import { chmod, mkdir, mkdtemp, readdir, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";

import type { Environment } from "../../runtime/adapters/nats/server/run-command.ts";
import { environment } from "../../runtime/process/settings.ts";
import { endMounts, leftoverMounts } from "./leftover-mounts.ts";
import { endLeftovers, leftoverProcesses } from "./leftover-processes.ts";
import { failedResult, type SuiteResult } from "./read-report.ts";
import { addResults, runSuite } from "./run-suite.ts";
import type { Project } from "./tiers.ts";

export interface RunSuitesOptions {
  readonly suites: readonly Project[];
  /** Only files whose path contains one of these; all when absent. */
  readonly files?: readonly string[];
  /** Directories that come before those of `PATH`. */
  readonly programs?: readonly string[];
  /** In addition to those of this process, which they override. */
  readonly variables?: Environment;
  /** One file after the other. */
  readonly inTurn?: boolean;
  /** Ends the running suite, as Ctrl-C does. */
  readonly signal?: AbortSignal;
  /** Called before each suite; if true, the rest is left out. */
  readonly interrupted: () => boolean;
}

const root = join(import.meta.dirname, "..", "..");
const settleTime = 5_000;

/**
 * Node's cache of compiled modules in the temporary directory, or a link to that of the environment: compilation takes
 * most of the time of short processes. By its name in their environment processes that are left behind are found.
 */
const compileCache = "node-compile-cache";

/**
 * Runs suites one after the other, with their output on this terminal; what they leave behind is ended and is a
 * failure.
 */
export async function runSuites({
  suites,
  files = [],
  programs = [],
  variables = {},
  interrupted,
  ...options
}: RunSuitesOptions): Promise<SuiteResult> {
  // The tests get a separate temporary directory, so that what they leave behind is found.
  const directory = await realpath(await mkdtemp(join(tmpdir(), "weir-test-")));
  const reports = await mkdtemp(join(tmpdir(), "weir-report-"));
  await chmod(directory, 0o755);
  const before = await strays();
  try {
    const cache = join(directory, compileCache);
    const { NODE_COMPILE_CACHE: shared } = environment();
    if (shared !== undefined) {
      await mkdir(shared, { recursive: true });
      await symlink(resolve(shared), cache);
    }
    const results: SuiteResult[] = [];
    const path = [join(root, "node_modules", ".bin"), ...programs, environment()["PATH"]].join(delimiter);
    for (const suite of suites) {
      if (interrupted()) break;
      console.log(`\n${suite} tests`);
      const all = { ...environment(), ...variables, PATH: path, TMPDIR: directory, NODE_COMPILE_CACHE: cache };
      results.push(await runSuite(suite, { ...options, root, reports, environment: all, files }));
    }
    results.push(await checkLeftovers(directory, before));
    return addResults(results);
  } finally {
    await rm(directory, { recursive: true, force: true });
    await rm(reports, { recursive: true, force: true });
  }
}

/** What a test that does not use its own directory would leave in the repository. */
async function strays(): Promise<readonly string[]> {
  return (await readdir(root)).filter((name) => name === ".weir" || name.startsWith(".setup.lock"));
}

/** Processes, files in the temporary directory and strays in the repository, each a failure. */
async function checkLeftovers(directory: string, before: readonly string[]): Promise<SuiteResult> {
  const processes = await leftoverProcesses(directory, settleTime);
  endLeftovers(processes);
  const mounts = leftoverMounts(directory);
  endMounts(mounts);
  const files = (await readdir(directory)).filter((name) => name !== compileCache);
  const added = (await strays()).filter((name) => !before.includes(name));
  const leftovers = [
    ...processes.map(({ pid, command }) => `process ${pid}: ${command}`),
    ...mounts.map((place) => `mount ${place}`),
    ...files.map((name) => `temporary file ${name}`),
    ...added.map((name) => `new in the repository: ${name}`),
  ];
  const failures = leftovers.map((complaint) => `Left behind by the tests: ${complaint}`);
  for (const failure of failures) console.error(failure);
  return failedResult(failures);
}
