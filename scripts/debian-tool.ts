import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

import { environment } from "../runtime/process/settings.ts";

const toolDirectories = [...(environment()["PATH"] ?? "").split(delimiter), "/usr/sbin", "/sbin"];

/** Attempts to install a package. */
const attempts = 3;

/** The path of a program, or undefined; where `PATH` says when `directories` is absent. */
export function findTool(tool: string, directories: readonly string[] = toolDirectories): string | undefined {
  return directories.map((place) => join(place, tool)).find(isExecutable);
}

/**
 * The path of `tool`; as root on Debian a missing one is installed from its package, which is reported. Undefined when
 * it is not available. `find` looks for one that is in no directory of `PATH`.
 */
export function installedTool(
  tool: string,
  debianPackage: string,
  say: (line: string) => void,
  find: (tool: string) => string | undefined = findTool,
): string | undefined {
  const found = find(tool);
  if (found !== undefined || process.getuid?.() !== 0 || findTool("apt-get") === undefined) return found;
  say(`"${tool}" is missing: installing Debian's package "${debianPackage}" with apt-get, as root`);
  const env = { ...environment(), DEBIAN_FRONTEND: "noninteractive" };
  const install = ["install", "-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300", debianPackage];
  // A concurrent test file may be installing its own package, and hold the lock on the package lists; apt does not wait
  // for it.
  for (let left = attempts; left > 0 && find(tool) === undefined; left -= 1) {
    spawnSync("apt-get", ["update"], { env, stdio: "ignore" });
    // At run level 1 a package does not start its service.
    spawnSync("apt-get", install, { env: { ...env, RUNLEVEL: "1" }, stdio: "ignore" });
  }
  return find(tool);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
