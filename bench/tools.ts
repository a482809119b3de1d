import { availableParallelism } from "node:os";

import { findTool, installedTool } from "../scripts/debian-tool.ts";
import { BenchSkipped } from "./bench-row.ts";

/**
 * The path of `tool`. As root on Debian, a missing tool is installed from its package, which is reported.
 * @throws BenchSkipped when it is not available
 */
export function needTool(tool: string, debianPackage: string): string {
  const path = installedTool(tool, debianPackage, say);
  if (path !== undefined) return path;
  throw new BenchSkipped(`"${tool}" is not to be had (Debian: apt-get install ${debianPackage})`);
}

/** Prints a message to standard error, as the table goes to standard output. */
export function say(sentence: string): void {
  process.stderr.write(`${sentence}\n`);
}

/** The command line that runs `command` on one core; unchanged where pinning is not possible. */
export function pinned(core: number, command: readonly string[]): readonly string[] {
  const taskset = findTool("taskset");
  return taskset === undefined || availableParallelism() <= core ? command : [taskset, "-c", String(core), ...command];
}
