import { dirname } from "node:path";

import { Command } from "commander";

import { environment } from "../../runtime/process/settings.ts";
import { runSuites } from "../test/run-suites.ts";
import { exitCodeOf, sayResult } from "../test/say-result.ts";
import { lineServer } from "./line-server.ts";
import { olderLines } from "./older-lines.ts";

/** Files of fault rows, of tests of the queue, and of tests that use the broker. */
const files = ["/queue-", "/fault-", "/nats-"];

const say = (line: string): void => void process.stderr.write(`${line}\n`);

let interrupted = false;
process.on("SIGINT", () => {
  // The running suite receives it, too; what it leaves behind is cleaned up before this process ends.
  interrupted = true;
});

const command = new Command("npm run test:nats --")
  .description(
    "Runs the fault rows and the other tests that use the broker on an older nats-server, which is built with Go the first time.",
  )
  .argument("<line>", `one of ${Object.keys(olderLines).join(", ")}`)
  .argument("[files...]", "only files whose path contains one of these", files)
  .helpOption("--help", "show this")
  .action(async (line: string, chosen: readonly string[]) => {
    const { path, version } = await lineServer(line, { environment: environment(), say });
    say(`nats-server ${version}: ${path}`);
    const result = await runSuites({
      suites: ["integration", "alone"],
      files: chosen,
      programs: [dirname(path)],
      interrupted: () => interrupted,
    });
    sayResult(result);
    process.exitCode = exitCodeOf(result, interrupted);
  });

try {
  await command.parseAsync();
} catch (err) {
  say(err instanceof Error ? err.message : String(err));
  process.exitCode = 1;
}
