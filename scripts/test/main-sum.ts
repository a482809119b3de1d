import { Command } from "commander";

import { readResults } from "./result-file.ts";
import { exitCodeOf, sayResult } from "./say-result.ts";

const command = new Command("npm run test:sum --")
  .description("Says what failed in several runs of tests, and the sum of how many passed, failed and were skipped.")
  .argument("<reports...>", "what they wrote with --report")
  .helpOption("--help", "show this")
  .action(async (reports: readonly string[]) => {
    const result = await readResults(reports);
    sayResult(result);
    process.exitCode = exitCodeOf(result);
  });

await command.parseAsync();
