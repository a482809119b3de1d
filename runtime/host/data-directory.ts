import { existsSync } from "node:fs";
import { mkdir, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

import { PlatformError } from "../api/platform-error.ts";
import { syncDirectory, writeFileDurably } from "../disk/durable-files.ts";
import { holdLock } from "../process/hold-lock.ts";

/** Where a single machine stores everything; absolute paths. */
export interface DataLayout {
  readonly root: string;
  /** The administrator's name and password, the key of function tokens. */
  readonly credentials: string;
  /** The broker: configuration, passwords, store, log. */
  readonly nats: string;
  /** Streams of the broker that could not be recovered. */
  readonly setAside: string;
  /** `<namespace>/<name>`. */
  readonly secrets: string;
  /** `<namespace>/<function>/<replica>`. */
  readonly logs: string;
  /** What running replicas need; nothing in it outlives them. */
  readonly run: string;
  /** Rules of who may do what, unless `iam_directory` names another place. */
  readonly iam: string;
  /** Copies of folders that functions are run from. */
  readonly snapshots: string;
  /** File that names the provider chosen at the first start. */
  readonly provider: string;
  /** File with the URL of the gateway, while it serves. */
  readonly address: string;
}

/** A data directory that this process has locked until it closes it. */
export interface DataDirectory {
  readonly layout: DataLayout;
  /** Removes the address, and releases it for the next Weir. */
  close(): Promise<void>;
}

/** Names of everything below a data directory, spelt once. */
export function dataLayout(path: string): DataLayout {
  const root = resolve(path);
  return {
    root,
    credentials: join(root, "credentials"),
    nats: join(root, "nats"),
    setAside: join(root, "set-aside"),
    secrets: join(root, "secrets"),
    logs: join(root, "logs"),
    run: join(root, "run"),
    iam: join(root, "iam"),
    snapshots: join(root, "snapshots"),
    provider: join(root, "provider"),
    address: join(root, "address"),
  };
}

/**
 * Creates the directory (mode 0700) if it does not exist, and locks it for this process.
 * @throws PlatformError when another Weir uses it, or it cannot be written
 */
export async function openDataDirectory(path: string): Promise<DataDirectory> {
  const layout = dataLayout(path);
  let holder: Awaited<ReturnType<typeof holdLock>>;
  try {
    await makeDirectory(layout.root);
    holder = await holdLock(join(layout.root, "lock"));
  } catch (cause) {
    throw unusable(layout.root, reasonOf(cause), cause);
  }
  if ("heldBy" in holder) {
    throw unusable(
      layout.root,
      `another Weir (process ${holder.heldBy}) uses it; stop that one or choose another with --data`,
    );
  }
  const { release } = holder;
  return {
    layout,
    close: async () => {
      await rm(layout.address, { force: true });
      await release();
    },
  };
}

/** Writes a small file for its owner alone; a power cut leaves the old one or the new one. */
export async function writeNote(file: string, text: string): Promise<void> {
  await writeFileDurably(file, `${text}\n`);
}

/** Not with `recursive`: that reports ENOENT on a read-only file system, and never returns below /proc. */
async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
    await syncDirectory(dirname(path));
  } catch (err) {
    const code = err instanceof Error && "code" in err ? err.code : undefined;
    if (code === "ENOENT" && !existsSync(dirname(path))) {
      await makeDirectory(dirname(path));
      await makeDirectory(path);
    } else if (code !== "EEXIST" || !(await stat(path)).isDirectory()) throw err;
  }
}

function unusable(path: string, state: string, cause?: unknown): PlatformError {
  return new PlatformError("internal_error", `Cannot use data directory "${path}": ${state}`, { cause });
}

function reasonOf(cause: unknown): string {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  switch (code) {
    case "EACCES":
    case "EPERM":
      return "this user may not write there; change its owner or choose another with --data";
    case "EROFS":
      return "its file system is read-only; choose another with --data";
    case "ENOSPC":
    case "EDQUOT":
      return "the disk is full; make space or choose another with --data";
    case "ENOTDIR":
    case "EEXIST":
      return "it is a file, or lies below one; choose another with --data";
    default:
      return `${cause instanceof Error ? cause.message : String(cause)}; choose another with --data`;
  }
}
