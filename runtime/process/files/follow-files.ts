import { readFileSync, statSync } from "node:fs";

/** Shortest time between two checks of the files, milliseconds. */
const checkInterval = 1_000;

/**
 * Parses the texts of `files` (undefined = missing). The returned function does so again when a file has changed, at
 * most once a second, and keeps the previous value if that fails.
 * @throws whatever `parse` throws at the start
 */
export function followFiles<T>(
  files: readonly string[],
  parse: (texts: readonly (string | undefined)[]) => T,
  now: () => number = Date.now,
): () => T {
  let version = versionOf(files);
  let value = parse(files.map(textOf));
  let checkedAt = now();
  return () => {
    const time = now();
    if (time - checkedAt < checkInterval) return value;
    checkedAt = time;
    try {
      const current = versionOf(files);
      if (current !== version) {
        value = parse(files.map(textOf));
        version = current;
      }
    } catch {
      // The files are being updated; the next check sees all of them.
    }
    return value;
  };
}

function textOf(file: string): string | undefined {
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
