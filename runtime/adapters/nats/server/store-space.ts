import { lstat, readdir, statfs } from "node:fs/promises";
import { join } from "node:path";

import { PlatformError } from "../../../api/platform-error.ts";

const mebibyte = 1_048_576;
const minFree = 64 * mebibyte;
const maxShare = 0.7;
/** Share at first; below the maximum, so that the size still fits when others have used some of the partition. */
const firstShare = 0.65;

/**
 * Bytes the server may store: at most 70 % of what is free or already used by the store, in whole MiB. The noted size
 * is kept while it fits and is at least half of that, so that the streams' shares do not change at every start.
 */
export function decideMaxFileStore(facts: {
  readonly free: number;
  readonly used: number;
  readonly noted: number | undefined;
}): number {
  const ours = facts.free + facts.used;
  const max = ours * maxShare;
  if (facts.noted !== undefined && facts.noted <= max && facts.noted >= max / 2) return facts.noted;
  return Math.floor((ours * firstShare) / mebibyte) * mebibyte;
}

/**
 * Bytes that this user may still write on the partition of `directory`.
 * @throws PlatformError `queue_unavailable` when less than 64 MiB are left
 */
export async function freeSpace(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  const free = bavail * bsize;
  if (free >= minFree) return free;
  throw new PlatformError(
    "queue_unavailable",
    `Cannot start nats-server: only ${Math.floor(free / mebibyte)} MiB are free in "${directory}"; ` +
      `make at least ${minFree / mebibyte} MiB free or choose another directory with --data`,
  );
}

/** Size of all files below `directory`, bytes; 0 when it does not exist. */
export async function usedSpace(directory: string): Promise<number> {
  let names: string[];
  try {
    names = await readdir(directory, { recursive: true });
  } catch {
    return 0;
  }
  let used = 0;
  for (const name of names) {
    // A file may disappear meanwhile.
    const found = await lstat(join(directory, name)).catch(() => undefined);
    if (found?.isFile() === true) used += found.size;
  }
  return used;
}
