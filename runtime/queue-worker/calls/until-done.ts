import { setTimeout as pause } from "node:timers/promises";

import type { Lease } from "../lease.ts";

const pauseAfterFailure = 250;
/** Longest that what finds no room waits for it outside its slot, and between two tries, milliseconds. */
const longestWait = 30_000;
const pauseWhenFull = 500;

/**
 * Repeats `act` until it says more than that it failed, or rejects no more; `lost` when the lease was lost before. The
 * lease bounds how long that may go on while the broker is away.
 */
export async function untilDone<T>(lease: Lease, act: () => Promise<T | "failed">): Promise<T | "lost"> {
  while (!lease.lost.aborted) {
    const outcome = await act().catch(() => "failed" as const);
    if (outcome !== "failed") return outcome;
    await pause(pauseAfterFailure);
  }
  return "lost";
}

/** Tries again until `act` finds room, 30 s are over or `signal` aborts; true once it found some. */
export async function whenRoom(act: () => Promise<boolean>, signal: AbortSignal): Promise<boolean> {
  const until = performance.now() + longestWait;
  while (!signal.aborted && performance.now() < until) {
    await pause(pauseWhenFull, undefined, { signal }).catch(() => {});
    if (!signal.aborted && (await act())) return true;
  }
  return false;
}
