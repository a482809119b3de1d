import { availableParallelism } from "node:os";

import { findTool, installedTool } from "../scripts/debian-tool.ts";
import { BenchSkipped } from "./bench-row.ts";

/**
 * The path of `tool`; as root on Debian a missing one is installed from its package, which is said aloud.
 * @throws BenchSkipped when it is not to be had
 */
export function needTool(tool: string, debianPackage: string): string {
  const path = installedTool(tool, debianPackage, say);
  if (path !== undefined) return path;
  throw new BenchSkipped(`"${tool}" is not to be had (Debian: apt-get install ${debianPackage})`);
}

/** Says something to whoever runs the bench, beside the table. */
export function say(sentence: string): void {
  process.stderr.write(`${sentence}\n`);
}

/** The command line that runs `command` on one core; as it is where that cannot be asked for. */
export function pinned(core: number, command: readonly string[]): readonly string[] {
  const taskset = findTool("taskset");
  return taskset === undefined || availableParallelism() <= core ? command : [taskset, "-c", String(core), ...command];
}
