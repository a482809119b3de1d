import { chmod, lstat, mkdir, readdir, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { copyFiles, type FunctionFiles } from "./copy-files.ts";

const others = { read: 0o004, write: 0o022, search: 0o001 };

/** Where a function finds its files. */
export interface PlacedFiles {
  readonly directory: string;
  /** False = the files are used in place. */
  readonly copied: boolean;
}

export interface PlaceOptions extends FunctionFiles {
  readonly name: string;
  /** Where a copy goes; the system's directory for temporary files. */
  readonly within?: string;
}

/**
 * A function may run as a separate user: its files are used in place if everybody can read them there, else they are
 * copied, with the packages they import, to `weir-example-<uid>-<name>` in the directory for temporary files.
 * @throws Error with a sentence when that directory cannot be used
 */
export async function placeFiles(options: PlaceOptions): Promise<PlacedFiles> {
  const sources = [options.directory, ...options.packages];
  const readable = await Promise.all(sources.map(isReadableByAll));
  if (readable.every(Boolean)) return { directory: options.directory, copied: false };

  const within = options.within ?? tmpdir();
  const target = join(within, `weir-example-${process.getuid?.() ?? 0}-${options.name}`);
  if (!(await isSearchableByAll(within))) {
    throw new Error(
      `Cannot place the files of example "${options.name}": not every user may enter "${within}", set TMPDIR to a directory they may`,
    );
  }
  await ownDirectory(target);
  await copyFiles(options, target);
  await openToAll(target);
  return { directory: target, copied: true };
}

/** Refuses a directory of another user: in a shared directory, it may have been prepared as an attack. */
async function ownDirectory(path: string): Promise<void> {
  await mkdir(path, { mode: 0o755 }).catch((err: unknown) => {
    if (!(err instanceof Error && "code" in err && err.code === "EEXIST")) throw err;
  });
  const found = await lstat(path);
  if (!found.isDirectory() || found.uid !== (process.getuid?.() ?? found.uid) || (found.mode & others.write) !== 0) {
    throw new Error(`Cannot use "${path}": it belongs to someone else or others may write to it, remove it`);
  }
}

async function openToAll(directory: string): Promise<void> {
  await chmod(directory, 0o755);
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) await openToAll(path);
    else if (entry.isFile()) await chmod(path, 0o644);
  }
}

async function isReadableByAll(directory: string): Promise<boolean> {
  if (!(await isSearchableByAll(directory))) return false;
  const entries = await readdir(directory, { withFileTypes: true, recursive: true });
  const modes = await Promise.all(
    entries.map(async (entry) => ({ entry, mode: (await stat(join(entry.parentPath, entry.name))).mode })),
  );
  return modes.every(
    ({ entry, mode }) => (mode & others.read) !== 0 && (!entry.isDirectory() || (mode & others.search) !== 0),
  );
}

async function isSearchableByAll(directory: string): Promise<boolean> {
  for (let at = directory; ; at = dirname(at)) {
    if (((await stat(at)).mode & others.search) === 0) return false;
    if (dirname(at) === at) return true;
  }
}
