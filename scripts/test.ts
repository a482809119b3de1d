import { Command } from "commander";

import { findNatsServer } from "../runtime/adapters/nats/server/find-nats-server.ts";
import { environment } from "../runtime/process/settings.ts";
import { installedTool } from "./debian-tool.ts";
import { runSuites } from "./test/run-suites.ts";
import { failedResult, type SuiteResult } from "./test/read-report.ts";
import { writeResult } from "./test/result-file.ts";
import { exitCodeOf, sayResult } from "./test/say-result.ts";
import { suites } from "./test/tiers.ts";

let interrupted = false;
process.on("SIGINT", () => {
  // The running suite receives it, too; what it leaves behind is cleaned up before this process ends.
  interrupted = true;
});

const command = new Command("npm test --")
  .description("Runs the tests and reports at the end how many passed, failed and were skipped.")
  .argument("[suites...]", `of ${suites.join(", ")}, nightly; all but the last when none is named`)
  .option("--report <file>", "also writes the result there, as JSON")
  .helpOption("--help", "show this")
  .action(async (names: readonly string[], { report }: { report?: string }) => {
    const result = await run(names);
    if (report !== undefined) await writeResult(report, result);
    sayResult(result);
    process.exitCode = exitCodeOf(result, interrupted);
  });

await command.parseAsync();

async function run(names: readonly string[]): Promise<SuiteResult> {
  const known = [...suites, "nightly"] as const;
  const unknown = names.filter((name) => !known.some((suite) => suite === name));
  if (unknown.length > 0) {
    return failedResult([`Cannot run tests "${unknown.join(" ")}": the suites are ${known.join(", ")}`]);
  }
  const failure = await natsServerFailure();
  if (failure !== undefined) return failedResult([failure]);
  // The commands of the README are tested as written, and use curl.
  installedTool("curl", "curl", console.log);

  return runSuites({
    suites: names.length === 0 ? suites : known.filter((each) => names.includes(each)),
    interrupted: () => interrupted,
  });
}

/** Finds or installs a nats-server and reports which; resolves with the reason if there is none. */
async function natsServerFailure(): Promise<string | undefined> {
  try {
    const found = await findNatsServer({ environment: environment(), say: console.log });
    for (const reason of found.ignored) console.log(reason);
    console.log(`nats-server ${found.version}: ${found.path}`);
    return undefined;
  } catch (err) {
    return err instanceof Error ? err.message : String(err);
  }
}
