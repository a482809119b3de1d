import { chmod, mkdtemp, readdir, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";

import { findNatsServer } from "../runtime/adapters/nats/server/find-nats-server.ts";
import { environment } from "../runtime/process/settings.ts";
import { installedTool } from "./debian-tool.ts";
import { addCounts, formatCounts, type Counts } from "./test/count-results.ts";
import { endLeftovers, leftoverProcesses } from "./test/leftover-processes.ts";
import { runSuite, suites, type Suite } from "./test/run-suite.ts";

const root = dirname(import.meta.dirname);
const settleTime = 5_000;
const none: Counts = { passed: 0, failed: 0, skipped: 0 };
const oneFailure: Counts = { ...none, failed: 1 };

/** What Node and the tools keep in the temporary directory for the next time. */
const keptByTools = ["node-compile-cache"];

let interrupted = false;
process.on("SIGINT", () => {
  // The suite that runs gets it, too; what it leaves behind is cleared before we end.
  interrupted = true;
});

const counts = await run(process.argv.slice(2));
console.log(formatCounts(counts));
process.exitCode = interrupted ? 130 : counts.failed > 0 || counts.passed === 0 ? 1 : 0;

async function run(names: readonly string[]): Promise<Counts> {
  const unknown = names.filter((name) => !suites.some((suite) => suite === name));
  if (unknown.length > 0) {
    console.error(`Cannot run tests "${unknown.join(" ")}": the suites are ${suites.join(", ")}`);
    return oneFailure;
  }
  if (!(await natsServerIsThere())) return oneFailure;
  // The README is tried as it is written, and it is written with curl.
  installedTool("curl", "curl", console.log);

  // The tests get a temporary directory of their own, so that what they leave behind shows.
  const directory = await realpath(await mkdtemp(join(tmpdir(), "weir-test-")));
  const reports = await mkdtemp(join(tmpdir(), "weir-report-"));
  await chmod(directory, 0o755);
  const before = await strays();
  try {
    const results: Counts[] = [];
    for (const suite of suites.filter((each) => names.length === 0 || names.includes(each))) {
      if (!interrupted) results.push(await runLoudly(suite, directory, reports));
    }
    results.push(await checkLeftovers(directory, before));
    return addCounts(results);
  } finally {
    await rm(directory, { recursive: true, force: true });
    await rm(reports, { recursive: true, force: true });
  }
}

async function natsServerIsThere(): Promise<boolean> {
  try {
    const found = await findNatsServer({ environment: environment(), say: console.log });
    for (const reason of found.ignored) console.log(reason);
    console.log(`nats-server ${found.version}: ${found.path}`);
    return true;
  } catch (err) {
    console.error(err instanceof Error ? err.message : err);
    return false;
  }
}

function runLoudly(suite: Suite, directory: string, reports: string): Promise<Counts> {
  console.log(`\n${suite} tests`);
  const path = [join(root, "node_modules", ".bin"), environment()["PATH"]].join(delimiter);
  return runSuite(suite, root, reports, { ...environment(), PATH: path, TMPDIR: directory });
}

/** What a test that forgot its own directory would leave in the repository. */
async function strays(): Promise<readonly string[]> {
  return (await readdir(root)).filter((name) => name === ".weir" || name.startsWith(".setup.lock"));
}

/** Processes, files in the temporary directory and strays in the repository, each a failure. */
async function checkLeftovers(directory: string, before: readonly string[]): Promise<Counts> {
  const processes = await leftoverProcesses(directory, settleTime);
  endLeftovers(processes);
  const files = (await readdir(directory)).filter((name) => !keptByTools.includes(name));
  const added = (await strays()).filter((name) => !before.includes(name));
  const complaints = [
    ...processes.map(({ pid, command }) => `process ${pid}: ${command}`),
    ...files.map((name) => `temporary file ${name}`),
    ...added.map((name) => `new in the repository: ${name}`),
  ];
  for (const complaint of complaints) console.error(`Left behind by the tests: ${complaint}`);
  return { ...none, failed: complaints.length };
}
