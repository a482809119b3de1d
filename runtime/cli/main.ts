#!/usr/bin/env node
import { nodeTooOld } from "./node-version.ts";

const problem = nodeTooOld(process.versions.node);
if (problem === undefined) {
  // Not before: an older Node.js cannot load what the others import.
  const { runCli } = await import("./run-cli.ts");
  const { processTerminal } = await import("./process-terminal.ts");
  process.exitCode = await runCli(process.argv.slice(2), processTerminal());
} else {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 2;
}
