import { readFileSync, statSync } from "node:fs";

/** Shortest time between two checks of the files, milliseconds. */
const checkInterval = 1_000;

/**
 * Calls `read`, which reads `files`. The returned function does so again when one of them has changed, came or went, at
 * most once a second, and keeps the previous value if that fails.
 * @throws whatever `read` throws at the start
 */
export function followFiles<T>(files: readonly string[], read: () => T, now: () => number = Date.now): () => T {
  let version = versionOf(files);
  let value = read();
  let checkedAt = now();
  return () => {
    const time = now();
    // A clock that was set back must not keep a changed file from being read.
    if (Math.abs(time - checkedAt) < checkInterval) return value;
    checkedAt = time;
    try {
      const current = versionOf(files);
      if (current !== version) {
        value = read();
        version = current;
      }
    } catch {
      // The files are being updated; the next check sees all of them.
    }
    return value;
  };
}

/** The text of a file; undefined if there is none. */
export function textIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (err) {
    if (err instanceof Error && "code" in err && err.code === "ENOENT") return undefined;
    throw err;
  }
}

function versionOf(files: readonly string[]): string {
  return files
    .map((file) => {
      const stat = statSync(file, { throwIfNoEntry: false });
      return stat === undefined ? "" : `${stat.ino}:${stat.mtimeMs}:${stat.size}`;
    })
    .join("|");
}
