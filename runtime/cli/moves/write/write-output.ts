import { lstat } from "node:fs/promises";
import { dirname } from "node:path";

import { makeDirectoryDurably, writeFileDurably } from "../../../disk/durable-files.ts";

/** Whether something is there, a broken link, too. */
export async function outputExists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** Writes a file so that nobody sees half of it. Without `replace` it rejects if something is there. */
export async function writeOutput(path: string, text: string, replace: boolean): Promise<void> {
  await makeDirectoryDurably(dirname(path), 0o777);
  await writeFileDurably(path, text, { mode: 0o666, replace });
}
