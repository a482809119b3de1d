import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/** With these, V8 writes the same bytes each time; neither is part of what V8 compares when it reads the cache. */
const reproducible = ["--random-seed=1", "--predictable"];

/**
 * Runs the staged program `start` once with each of `runs`, so that it caches its compiled modules; with `root` as the
 * root directory, since the cache contains paths. False where this machine does not allow that.
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
  // When an image is built from another one, the running system is that of the image.
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
  // A program that fails has loaded its modules anyway.
  for (const args of runs) await call([...reproducible, start, ...args]).catch(() => {});
  return true;
}
