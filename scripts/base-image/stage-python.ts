import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, cp, lstat, mkdir, symlink } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";

import type { MachinePython } from "./machine-python.ts";
import { isStaged } from "./python-files.ts";

const run = promisify(execFile);
const usual = "/usr/bin/python3";
const certificates = "/etc/ssl/certs/ca-certificates.crt";
const timeZones = "/usr/share/zoneinfo";
/** The same time zones by other rules. */
const otherTimeZones = new Set(["posix", "right"]);

/**
 * Adds Python to the system in `root`, all at the same paths as on this machine: virtual environments that were made
 * here work there. Its shared libraries must be there.
 */
export async function stagePython(root: string, python: MachinePython): Promise<void> {
  const { executable, command } = python;
  await makePlace(root, executable);
  await copyFile(executable, join(root, executable));
  for (const path of new Set([usual, command])) await linkTo(root, executable, path);
  for (const library of python.libraries) await stageLibrary(root, library, python);
  await linkTo(root, certificates, python.certificates);
  if (!existsSync(timeZones)) return;
  await cp(timeZones, join(root, timeZones), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !otherTimeZones.has(relative(timeZones, path)),
  });
}

/**
 * Copies modules and compiles them, since functions cannot write there. The bytecode counts whatever the time of its
 * source, which an image loses; and it is the same each time.
 */
async function stageLibrary(root: string, library: string, { command }: MachinePython): Promise<void> {
  const target = join(root, library);
  await cp(library, target, {
    recursive: true,
    dereference: true,
    filter: (path) => isStaged(relative(library, path)),
  });
  const compile = ["-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", "-s", root, "-p", "/"];
  await run(command, [...compile, target], { cwd: "/", env: { PYTHONHASHSEED: "0" } });
}

async function linkTo(root: string, target: string, path: string): Promise<void> {
  const exists = await lstat(join(root, path)).catch(() => undefined);
  if (exists !== undefined) return;
  await makePlace(root, path);
  await symlink(target, join(root, path));
}

async function makePlace(root: string, path: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
}
