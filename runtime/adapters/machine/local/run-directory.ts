import { chmod, lstat, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, isAbsolute, join } from "node:path";

import { PlatformError } from "../../../api/platform-error.ts";
import { killProcessesOf } from "./processes-of-replica.ts";
import { removeTree } from "./remove-tree.ts";

const prefix = "weir-";
const pattern = /^weir-[A-Za-z0-9]{6}$/;
const directories = ["replicas", "homes", "secrets", "staging", "sockets"] as const;
/** Those that only this user enters. */
const closed: ReadonlySet<string> = new Set(["staging", "sockets"]);

/** Bytes. Below it are the sockets of watchdogs, whose paths have 103 bytes at most on some systems. */
const longestTemporary = 70;

/** Files of replicas while this process lives; other users can traverse the directory, but not list it. */
export interface RunDirectory {
  readonly path: string;
  /** One directory per replica. */
  readonly replicas: string;
  /** Home directories of functions that are run from a folder. */
  readonly homes: string;
  /** One directory per function. */
  readonly secrets: string;
  /** For drafts of files, on the same file system as their destination. */
  readonly staging: string;
  /** For the Unix sockets of watchdogs, which no function may connect to: as root only this process enters it. */
  readonly sockets: string;
  close(): Promise<void>;
}

/**
 * Creates a new run directory and notes it below `dataDirectory`; removes the one that a killed process left, with its
 * processes. The caller owns the data directory exclusively.
 */
export async function openRunDirectory(dataDirectory: string): Promise<RunDirectory> {
  const notes = join(dataDirectory, "run");
  const note = join(notes, "local.json");
  await removeLeftover(note);
  await mkdir(notes, { recursive: true, mode: 0o700 });
  if (Buffer.byteLength(tmpdir()) > longestTemporary) {
    throw new PlatformError(
      "provider_unavailable",
      `Cannot run functions below "${tmpdir()}": paths of sockets there are too long; set TMPDIR to a directory of at most ${longestTemporary} bytes`,
    );
  }
  const path = await mkdtemp(join(tmpdir(), prefix));
  await writeFile(note, JSON.stringify({ directory: path, pid: process.pid }), { mode: 0o600 });
  await chmod(path, 0o711);
  for (const name of directories) {
    await mkdir(join(path, name), { mode: 0o700 });
    if (!closed.has(name)) await chmod(join(path, name), 0o711);
  }
  return {
    path,
    replicas: join(path, "replicas"),
    homes: join(path, "homes"),
    secrets: join(path, "secrets"),
    staging: join(path, "staging"),
    sockets: join(path, "sockets"),
    close: async () => {
      await removeTree(path);
      await rm(note, { force: true });
    },
  };
}

async function removeLeftover(note: string): Promise<void> {
  const text = await readFile(note, "utf8").catch(() => undefined);
  const directory = text === undefined ? undefined : directoryIn(text);
  if (directory === undefined || !(await isOurs(directory))) return;
  await killProcessesOf(directory, undefined);
  await removeTree(directory);
}

function directoryIn(text: string): string | undefined {
  try {
    const note: unknown = JSON.parse(text);
    const directory = typeof note === "object" && note !== null && "directory" in note ? note.directory : undefined;
    return typeof directory === "string" ? directory : undefined;
  } catch {
    // Truncated, as its writer was killed.
    return undefined;
  }
}

/** Whether it is a real directory of this user, with a name that only Weir gives. */
async function isOurs(directory: string): Promise<boolean> {
  if (!isAbsolute(directory) || !pattern.test(basename(directory))) return false;
  const found = await lstat(directory).catch(() => undefined);
  return found?.isDirectory() === true && found.uid === process.getuid?.();
}
