import { randomBytes } from "node:crypto";
import { link, lstat, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

/** Whether something is there, a broken link, too. */
export async function outputExists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** Writes a file so that nobody sees half of it. Without `replace` it rejects if something is there. */
export async function writeOutput(path: string, text: string, replace: boolean): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const fresh = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    await writeFile(fresh, text, { flag: "wx" });
    await (replace ? rename(fresh, path) : link(fresh, path));
  } finally {
    await rm(fresh, { force: true });
  }
}
