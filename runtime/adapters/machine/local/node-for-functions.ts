import { chmod, copyFile, link, mkdir, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";

const executable = 0o001;

/**
 * The Node.js program that functions are run with and find on their PATH: this process's own if all users can execute
 * it, else a copy below `directory`.
 */
export async function nodeForFunctions(directory: string, own: string = process.execPath): Promise<string> {
  const program = await realpath(own);
  if (await isReachable(program)) return program;
  await mkdir(directory);
  await chmod(directory, 0o755);
  const copy = join(directory, "node");
  // A link costs nothing, but only works within one file system.
  await link(program, copy).catch(() => copyFile(program, copy));
  return copy;
}

/** Whether all users may execute the file: it and all directories above it allow that. */
export async function isReachable(path: string): Promise<boolean> {
  for (let at = path; ; at = dirname(at)) {
    if (((await stat(at)).mode & executable) === 0) return false;
    if (dirname(at) === at) return true;
  }
}
