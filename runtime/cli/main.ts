#!/usr/bin/env node
import { nodeTooOld } from "./node-version.ts";

const problem = nodeTooOld(process.versions.node);
if (problem === undefined) {
  // Not before: an older Node.js cannot load what the others import.
  const { runCli } = await import("./run-cli.ts");
  const { processTerminal } = await import("./process-terminal.ts");
  const terminal = processTerminal();
  process.exitCode = await runCli(process.argv.slice(2), terminal);
  // What was given up, such as the look-up of a name or a read of input, would keep the process.
  if (terminal.signal.aborted) process.exit();
  else process.stdout.write("", () => process.exit());
} else {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 2;
}
