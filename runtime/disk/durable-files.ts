import { randomBytes } from "node:crypto";
import { execFile } from "node:child_process";
import { chown, link, lstat, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";

/** How a file is written. */
export interface WriteFileOptions {
  /** Permissions of a new file. */
  readonly mode?: number;
  /** User and group id of the file; those of this process when absent. */
  readonly owner?: number | undefined;
  /** Replaces a file that exists (the default). Otherwise the write rejects with EEXIST. */
  readonly replace?: boolean;
  /** Directory for the unfinished file, on the same file system; the directory of the file itself when absent. */
  readonly staging?: string;
}

/** End of the name of an unfinished file. */
export const unfinishedSuffix = ".new";

const parallelSyncs = 16;
/** From here on one sync of the file system costs less than one of each file. */
const manyFiles = 1_000;
/** Errors where this process may not open something to sync it, and where a directory cannot be synced. */
const notOurs = ["EACCES", "EPERM"] as const;
const unsupported = ["EISDIR", "EINVAL", "ENOTSUP"] as const;

/**
 * Writes a file so that a crash or a power cut leaves the old content or the new, never a part of it: writes it beside,
 * syncs it, renames it and syncs the directory. Once this resolves, the file survives a power cut.
 */
export async function writeFileDurably(
  path: string,
  data: string | Uint8Array,
  { mode = 0o600, owner, replace = true, staging }: WriteFileOptions = {},
): Promise<void> {
  const name = `${basename(path)}.${randomBytes(6).toString("hex")}${unfinishedSuffix}`;
  const unfinished = join(staging ?? dirname(path), name);
  try {
    const file = await open(unfinished, "wx", mode);
    try {
      await file.writeFile(data);
      await file.sync();
    } finally {
      await file.close();
    }
    if (owner !== undefined) await chown(unfinished, owner, owner);
    if (replace) await rename(unfinished, path);
    else await placeNew(unfinished, path);
    await syncDirectory(dirname(path));
  } finally {
    await rm(unfinished, { force: true });
  }
}

/** A link fails if there is a file, but some file systems have none. */
async function placeNew(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (err) {
    if (!hasCode(err, "EPERM", "ENOTSUP", "ENOSYS") || (await lstat(to).catch(() => undefined)) !== undefined)
      throw err;
    await rename(from, to);
  }
}

/** Creates a directory with those above it. Once this resolves, all of them survive a power cut. */
export async function makeDirectoryDurably(path: string, mode = 0o700): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode });
  if (first === undefined) return;
  const top = dirname(resolve(first));
  for (let at = dirname(resolve(path)); ; at = dirname(at)) {
    await syncDirectory(at);
    if (at === top || at === dirname(at)) return;
  }
}

/** Renames a file or directory. Once this resolves, the new name survives a power cut; what is in it is not synced. */
export async function renameDurably(from: string, to: string): Promise<void> {
  await rename(from, to);
  await syncDirectory(dirname(to));
  if (dirname(from) !== dirname(to)) await syncDirectory(dirname(from));
}

/** Writes the content of a file to the disk. */
export async function syncFile(path: string): Promise<void> {
  await syncPath(path, []);
}

/** Writes the names in a directory to the disk. Does nothing where directories cannot be synced. */
export async function syncDirectory(path: string): Promise<void> {
  await syncPath(path, [...notOurs, ...unsupported]);
}

/**
 * Writes all files and names below a directory to the disk, but not the files whose names `skip` accepts. What
 * disappears meanwhile is left out; a directory that does not exist counts as synced.
 */
export async function syncTree(directory: string, skip: (name: string) => boolean = () => false): Promise<void> {
  const files: string[] = [];
  const directories = [directory];
  // Grows while it is walked.
  for (const each of directories) {
    const entries = await readdir(each, { withFileTypes: true }).catch((err: unknown) => {
      if (hasCode(err, "ENOENT")) return [];
      throw err;
    });
    for (const entry of entries) {
      const path = join(each, entry.name);
      if (entry.isDirectory()) directories.push(path);
      else if (entry.isFile() && !skip(entry.name)) files.push(path);
    }
  }
  if (files.length > manyFiles && (await syncFileSystem(directory))) return;
  await eachOf(files, (path) => syncPath(path, ["ENOENT", ...notOurs]));
  await eachOf(directories, (path) => syncPath(path, ["ENOENT", ...notOurs, ...unsupported]));
}

/** False where there is no such command, or it fails. */
function syncFileSystem(directory: string): Promise<boolean> {
  return new Promise((done) => {
    execFile("sync", ["-f", directory], (err) => done(err === null));
  });
}

/** Whether a file holds nothing: ext4 leaves it empty after a power cut, other file systems fill it with zero bytes. */
export function holdsNothing(content: string): boolean {
  return content.replaceAll("\0", "").trim() === "";
}

async function eachOf(paths: readonly string[], work: (path: string) => Promise<void>): Promise<void> {
  const rest = paths.values();
  const some = async (): Promise<void> => {
    for (const path of rest) await work(path);
  };
  await Promise.all(Array.from({ length: parallelSyncs }, some));
}

async function syncPath(path: string, ignored: readonly string[]): Promise<void> {
  try {
    const handle = await open(path, "r");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (err) {
    if (!hasCode(err, ...ignored)) throw err;
  }
}

function hasCode(err: unknown, ...codes: readonly string[]): boolean {
  return err instanceof Error && "code" in err && codes.includes(String(err.code));
}
