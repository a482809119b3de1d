import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";

import { environment } from "../../runtime/process/settings.ts";
import { BenchSkipped } from "./bench-row.ts";

const places = [...(environment()["PATH"] ?? "").split(":"), "/usr/sbin", "/sbin"];

/**
 * The path of `tool`; as root on Debian a missing one is installed from its package, which is said aloud.
 * @throws BenchSkipped when it is not to be had
 */
export function needTool(tool: string, debianPackage: string): string {
  const found = findTool(tool);
  if (found !== undefined) return found;
  if (process.getuid?.() !== 0 || findTool("apt-get") === undefined) {
    throw new BenchSkipped(`"${tool}" is not on the PATH (Debian: apt-get install ${debianPackage})`);
  }
  say(`"${tool}" is missing: installing Debian's package "${debianPackage}" with apt-get, as root`);
  const env = { ...environment(), DEBIAN_FRONTEND: "noninteractive" };
  spawnSync("apt-get", ["update"], { env, stdio: "ignore" });
  // At run level 1 a package does not start its service: the peer's must not run beside the bench.
  const install = ["install", "-y", "--no-install-recommends", debianPackage];
  spawnSync("apt-get", install, { env: { ...env, RUNLEVEL: "1" }, stdio: "ignore" });
  const installed = findTool(tool);
  if (installed === undefined) throw new BenchSkipped(`"${tool}" could not be installed from package "${debianPackage}"`);
  return installed;
}

/** The path of a program, or undefined. */
export function findTool(tool: string): string | undefined {
  return places.map((place) => join(place, tool)).find(isExecutable);
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

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
