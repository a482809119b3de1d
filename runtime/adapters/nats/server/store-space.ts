import { lstat, readdir, statfs } from "node:fs/promises";
import { join } from "node:path";

import { PlatformError } from "../../../api/platform-error.ts";

const mebibyte = 1_048_576;
const leastFree = 64 * mebibyte;
const mostShare = 0.7;
/** Taken at first, so that the size still fits when others have used some of the partition. */
const firstShare = 0.65;

/**
 * Bytes the server may store: at most 70 % of what is free or already the store's own, in whole MiB. The noted size
 * stays while it fits and is not below half of that, so that the streams' shares do not move at every start.
 */
export function decideMaxFileStore(facts: {
  readonly free: number;
  readonly used: number;
  readonly noted: number | undefined;
}): number {
  const ours = facts.free + facts.used;
  const most = ours * mostShare;
  if (facts.noted !== undefined && facts.noted <= most && facts.noted >= most / 2) return facts.noted;
  return Math.floor((ours * firstShare) / mebibyte) * mebibyte;
}

/**
 * Bytes free for us on the partition of `directory`.
 * @throws PlatformError `queue_unavailable` when less than 64 MiB are left
 */
export async function freeSpace(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  const free = bavail * bsize;
  if (free >= leastFree) return free;
  throw new PlatformError(
    "queue_unavailable",
    `Cannot start nats-server: only ${Math.floor(free / mebibyte)} MiB are free in "${directory}"; ` +
      `make at least ${leastFree / mebibyte} MiB free or choose another directory with --data`,
  );
}

/** Bytes all files below `directory` take; 0 when it is not there. */
export async function usedSpace(directory: string): Promise<number> {
  let names: string[];
  try {
    names = await readdir(directory, { recursive: true });
  } catch {
    return 0;
  }
  let used = 0;
  for (const name of names) {
    // A file may go away while we look.
    const found = await lstat(join(directory, name)).catch(() => undefined);
    if (found?.isFile() === true) used += found.size;
  }
  return used;
}
