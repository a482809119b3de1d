import { existsSync } from "node:fs";
import { chmod, copyFile, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { isRefilled } from "../../runtime/adapters/sqlite/database/former-file.ts";
import { renameDurably, syncFile } from "../../runtime/disk/durable-files.ts";
import { holdLock } from "../../runtime/process/hold-lock.ts";
import type { BackedUpFile, WrittenBackup } from "./backup-directory.ts";
import { megabytes } from "./progress.ts";

/** What stands for the history among the names of streams. */
export const historyName = "history";

/** The files of a history on one machine: calls, and kept log lines. */
const historyFiles = ["calls.db", "logs.db"] as const;
/** What SQLite has beside a file; none of it belongs to another one of the same name. */
const beside = ["-wal", "-shm", ".mark"] as const;

/** Whether there is a history in a directory. */
export function hasHistory(directory: string): boolean {
  return historyFiles.some((file) => existsSync(join(directory, file)));
}

/**
 * Copies the files of a history, each as it is at one moment, also while they are written.
 * @throws Error when one cannot be read as a whole
 */
export async function backUpHistory(
  backup: Pick<WrittenBackup, "adopt">,
  directory: string,
  say: (line: string) => void,
): Promise<readonly BackedUpFile[]> {
  const files: BackedUpFile[] = [];
  for (const file of historyFiles.filter((name) => existsSync(join(directory, name)))) {
    const takenAt = new Date().toISOString();
    const facts = await backup.adopt(file, (path) => copyDatabase(join(directory, file), path));
    files.push({ file, ...facts, takenAt });
    say(`${historyName}: ${file}, ${megabytes(facts.bytes)}`);
  }
  return files;
}

/**
 * Returns if no process has the history in a directory.
 * @throws Error otherwise
 */
export async function checkHistoryRest(directory: string): Promise<void> {
  await (await holdHistory(directory)).release();
}

/**
 * Puts the files of a backup into the directory of a history, in place of what is there.
 * @throws Error when a process has it
 */
export async function restoreHistory(
  from: string,
  files: readonly BackedUpFile[],
  { directory, say }: { readonly directory: string; readonly say: (line: string) => void },
): Promise<void> {
  const lock = await holdHistory(directory);
  try {
    for (const { file, bytes } of files) {
      const [path, fresh] = [join(directory, file), join(directory, `${file}.restored`)];
      await copyFile(join(from, file), fresh);
      await chmod(fresh, 0o600);
      for (const suffix of [...beside, ".rebuild", ".rebuilding"]) await rm(`${path}${suffix}`, { force: true });
      await syncFile(fresh);
      await renameDurably(fresh, path);
      say(`${historyName}: ${file}, ${megabytes(bytes)}`);
    }
  } finally {
    await lock.release();
  }
}

async function holdHistory(directory: string): Promise<{ readonly release: () => Promise<void> }> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const lock = await holdLock(join(directory, "lock"));
  if ("heldBy" in lock)
    throw new Error(`Cannot replace the history in "${directory}": process ${lock.heldBy} has it; stop Weir first`);
  return lock;
}

function copyDatabase(from: string, to: string): void {
  if (isRefilled(from))
    throw new Error(`Cannot back up "${from}": it is being filled anew; try again when that is over`);
  const database = new DatabaseSync(from, { readOnly: true, timeout: 5_000 });
  try {
    database.prepare("VACUUM INTO ?").run(to);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`Cannot back up "${from}": ${why}; with --only the streams alone are backed up`, { cause });
  } finally {
    database.close();
  }
}
