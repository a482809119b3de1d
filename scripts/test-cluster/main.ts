import { Command, Option } from "commander";

import { errorMessage } from "../../runtime/cli/error-message.ts";
import { environment } from "../../runtime/process/settings.ts";
import { clusterLevels, type ClusterLevel } from "../cluster/places.ts";
import { writeResult } from "../test/result-file.ts";
import { failedResult, type SuiteResult } from "../test/read-report.ts";
import { addResults } from "../test/run-suite.ts";
import { runSuites, type RunSuitesOptions } from "../test/run-suites.ts";
import { exitCodeOf, sayResult } from "../test/say-result.ts";
import type { ClusterSuite, Tier } from "../test/tiers.ts";
import { clusterFiles, type ClusterFiles } from "./cluster-files.ts";
import { lookAtExistingCluster } from "./existing-cluster.ts";
import { NoCluster } from "./no-cluster.ts";
import { buildOwnCluster, highestLevelThere, openOwnCluster } from "./own-cluster.ts";

type Given = Pick<RunSuitesOptions, "variables" | "programs">;

interface CommandOptions {
  readonly level: ClusterLevel | "auto";
  readonly tier: Tier;
  readonly report?: string;
}

/** The requested tests. */
interface Asked {
  readonly suite: ClusterSuite;
  readonly patterns: readonly string[];
}

const abort = new AbortController();
let interrupted = false;
process.on("SIGINT", () => {
  // The running command receives it, too; the cluster is taken down before this process ends.
  interrupted = true;
});
process.on("SIGTERM", () => {
  interrupted = true;
  abort.abort();
});

const command = new Command("npm run test:cluster --")
  .description(
    "Runs the tests on a real Kubernetes cluster: one that is built (once) and started for them, or with WEIR_TEST_CLUSTER=existing that of KUBECONFIG.",
  )
  .argument("[files...]", "only files whose path contains one of these")
  .addOption(
    new Option("--level <level>", "api: API server only; kwok: also controllers; node: all; auto: node if it is built")
      .choices([...clusterLevels, "auto"])
      .default("node"),
  )
  .addOption(
    new Option("--tier <tier>", "first: runs for every change; nightly: takes longer")
      .choices(["first", "nightly"])
      .default("first"),
  )
  .option("--report <file>", "also writes the result there, as JSON")
  .helpOption("--help", "show this")
  .action(async (patterns: readonly string[], options: CommandOptions) => {
    let result: SuiteResult;
    try {
      result = await run({ suite: options.tier === "first" ? "cluster" : "nightly-cluster", patterns }, options.level);
    } catch (err) {
      const message = errorMessage(err);
      console.error(message);
      if (err instanceof NoCluster) {
        process.exitCode = 2;
        return;
      }
      result = failedResult([`cluster: ${message}`]);
    }
    if (options.report !== undefined) await writeResult(options.report, result);
    sayResult(result);
    process.exitCode = exitCodeOf(result, interrupted);
  });

await command.parseAsync();

async function run(asked: Asked, atLevel: ClusterLevel | "auto"): Promise<SuiteResult> {
  const { WEIR_TEST_CLUSTER } = environment();
  if (WEIR_TEST_CLUSTER === "existing") {
    const level = atLevel === "auto" ? "node" : atLevel;
    const files = clusterFiles(asked.suite, level, asked.patterns);
    return runFiles(asked.suite, files, { variables: await lookAtExistingCluster(level) });
  }
  if (WEIR_TEST_CLUSTER !== undefined) {
    throw new NoCluster(`WEIR_TEST_CLUSTER is "${WEIR_TEST_CLUSTER}": it may be "existing", or not set`);
  }
  const level = atLevel === "auto" ? await highestLevelThere() : atLevel;
  if (atLevel === "auto" && level !== "node") {
    console.log(
      `Level node is not built here ("npm run cluster -- build --metrics" does it): only level ${level} is run`,
    );
  }
  expectFiles(level, asked);
  const { together, inTurn } = clusterFiles(asked.suite, level, asked.patterns);
  await buildOwnCluster({ level, spareBuilds: atLevel === "auto", signal: abort.signal });
  // A cluster whose pods are pretended takes a fraction of the processor time of one with real ones.
  const pretended = level === "node" ? "kwok" : level;
  return addResults([
    await runOnOwnCluster(pretended, asked.suite, { together, inTurn: [] }),
    await runOnOwnCluster(level, asked.suite, { together: [], inTurn }),
  ]);
}

/**
 * Starts a cluster for the files, if there are any, and takes it down again. What it leaves behind is a failure, and so
 * is one that cannot be run: the result of the cluster before it counts.
 */
async function runOnOwnCluster(level: ClusterLevel, suite: ClusterSuite, files: ClusterFiles): Promise<SuiteResult> {
  if (interrupted || files.together.length + files.inTurn.length === 0) return failedResult([]);
  let result: SuiteResult | undefined;
  let left: readonly string[] = [];
  try {
    const cluster = await openOwnCluster(level, abort.signal);
    try {
      result = await runFiles(suite, files, cluster);
    } finally {
      left = await cluster.close();
    }
  } catch (err) {
    console.error(errorMessage(err));
    result = failedResult([`cluster of level ${level}: ${errorMessage(err)}`]);
  }
  const failures = left.map((line) => `Left behind by the cluster: ${line}`);
  for (const failure of failures) console.error(failure);
  return addResults([result, failedResult(failures)]);
}

async function runFiles(
  suite: ClusterSuite,
  { together, inTurn }: ClusterFiles,
  { variables = {}, programs = [] }: Given,
): Promise<SuiteResult> {
  const options = {
    suites: [suite],
    variables,
    programs,
    interrupted: () => interrupted,
    signal: abort.signal,
  } as const;
  return addResults([
    together.length > 0 ? await runSuites({ ...options, files: together }) : failedResult([]),
    inTurn.length > 0 ? await runSuites({ ...options, files: inTurn, inTurn: true }) : failedResult([]),
  ]);
}

/** Throws if there are no files, so that a cluster is not started needlessly. */
function expectFiles(level: ClusterLevel, { suite, patterns }: Asked): void {
  const { together, inTurn } = clusterFiles(suite, level, patterns);
  if (together.length + inTurn.length > 0) return;
  const which =
    patterns.length === 0 ? "" : ` whose path has ${patterns.map((each) => `"${each}"`).join(" or ")} in it`;
  throw new Error(`Cannot run tests on a cluster: level ${level} has no file${which}`);
}
