import type { LedgerEntry } from "../ports/call-ledger.ts";

/**
 * Longest time for which a worker requeues a callback without a new record, because its host is unavailable or busy:
 * 15 minutes and their jitter (`queue.md` §9), with a little for the attempt itself; milliseconds.
 */
const longestHostWait = 1_200_000;

/**
 * Whether an unacknowledged call should have been redelivered long ago: no live worker holds it, and it does not wait
 * for a time to come. Times in Unix milliseconds, `tolerance` in milliseconds.
 */
export function isOverdueCall(found: LedgerEntry | undefined, now: number, tolerance: number): boolean {
  if (found?.entry.state === "running") return now - found.writtenAt > tolerance;
  if (found?.entry.state === "waiting") return now - (found.entry.next ?? 0) > tolerance;
  return true;
}

/** The same of a callback, which may wait for its next attempt, and then for its host. */
export function isOverdueCallback(found: LedgerEntry | undefined, now: number, tolerance: number): boolean {
  const callback = found?.entry.callback;
  if (found === undefined || callback?.state !== "pending") return true;
  return now - Math.max(found.writtenAt, callback.next ?? 0) > Math.max(tolerance, longestHostWait);
}
