import { Command } from "commander";

import { readResults } from "./result-file.ts";
import { exitCodeOf, sayResult } from "./say-result.ts";

const command = new Command("npm run test:sum --")
  .description("Reports what failed in several runs of tests, and how many passed, failed and were skipped in total.")
  .argument("<reports...>", "files that they wrote with --report")
  .helpOption("--help", "show this")
  .action(async (reports: readonly string[]) => {
    const result = await readResults(reports);
    sayResult(result);
    process.exitCode = exitCodeOf(result);
  });

await command.parseAsync();
