import { execFile } from "node:child_process";
import { readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { findTool } from "../debian-tool.ts";
import { searchPath } from "../images/image-content.ts";
import { isStaged } from "./python-files.ts";

const run = promisify(execFile);

/** This machine's Python, with absolute paths. */
export interface MachinePython {
  /** As it is called; often a link to `executable`. */
  readonly command: string;
  readonly executable: string;
  /** The directories of its standard library. */
  readonly libraries: readonly string[];
  /** Shared objects of the standard library. */
  readonly modules: readonly string[];
  /** Where its OpenSSL looks for the certificates that it trusts. */
  readonly certificates: string;
}

/** These modules come with packages of their own on some systems, and a function expects them. */
const question = `
import ctypes, json, sqlite3, ssl, sys, sysconfig
print(json.dumps({
  "executable": sys.executable,
  "libraries": sorted({sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}),
  "certificates": ssl.get_default_verify_paths().openssl_cafile,
}))
`;

/** The Python that functions of this machine find: that of the system's directories, else of `PATH`. */
function pythonCommand(): string {
  const command = findTool("python3", searchPath.split(":")) ?? findTool("python3");
  if (command === undefined)
    throw new Error("Cannot stage Python: this machine has no python3; on Debian: apt-get install python3");
  return command;
}

/**
 * What `command` says about itself.
 * @throws Error with a sentence when there is no Python, or its standard library is not whole
 */
export async function machinePython(command = pythonCommand()): Promise<MachinePython> {
  const { stdout } = await run(command, ["-I", "-c", question]).catch((cause: { readonly stderr?: string }) => {
    const words = cause.stderr?.trim().split("\n").at(-1) ?? "it did not run";
    throw new Error(`Cannot stage "${command}": ${words}; on Debian: apt-get install python3`, { cause });
  });
  const found = JSON.parse(stdout) as Omit<MachinePython, "command" | "modules">;
  const modules = await Promise.all(found.libraries.map(modulesBelow));
  return { ...found, command, executable: await realpath(found.executable), modules: modules.flat() };
}

async function modulesBelow(library: string): Promise<string[]> {
  const paths = await readdir(library, { recursive: true });
  return paths
    .filter((path) => path.endsWith(".so") && isStaged(path))
    .toSorted()
    .map((path) => join(library, path));
}
