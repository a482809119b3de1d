import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/** With these V8 writes the same bytes each time, and both are left out of what a cache is good for. */
const alwaysTheSame = ["--random-seed=1", "--predictable"];

/**
 * Runs the staged program `start` once with each of `runs`, so that it keeps its modules compiled; with the system below
 * `root` as the whole one, since paths are written into what it keeps. False where this machine does not allow that.
 */
export async function fillCompileCache(
  root: string,
  start: string,
  runs: readonly (readonly string[])[],
  environment: Readonly<Record<string, string>> = {},
): Promise<boolean> {
  const isRoot = process.getuid?.() === 0;
  const program = isRoot ? "chroot" : "unshare";
  const inside = isRoot ? [root] : ["--map-root-user", `--root=${root}`, "--wd=/"];
  // Where an image is built from another one, its whole system is the one that runs.
  const node = root === "/" ? process.execPath : "/usr/bin/node";
  const call = (args: readonly string[]) =>
    run(program, [...inside, node, ...args], {
      env: { ...environment, PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
      timeout: 60_000,
    });
  try {
    await call(["--version"]);
  } catch {
    return false;
  }
  // A program that ends with a complaint has loaded all the same.
  for (const args of runs) await call([...alwaysTheSame, start, ...args]).catch(() => {});
  return true;
}
