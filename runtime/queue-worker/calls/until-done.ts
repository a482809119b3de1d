import { setTimeout as pause } from "node:timers/promises";

import type { Lease } from "../lease.ts";

const pauseAfterFailure = 250;
/** Longest wait for room outside the slot, and the pause between two attempts, milliseconds. */
const longestWait = 30_000;
const pauseWhenFull = 500;

/**
 * Repeats `act` until it neither rejects nor resolves with `failed`; `lost` when the lease was lost first. The lease
 * bounds how long that may take while the broker is unavailable.
 */
export async function untilDone<T>(lease: Lease, act: () => Promise<T | "failed">): Promise<T | "lost"> {
  while (!lease.lost.aborted) {
    const outcome = await act().catch(() => "failed" as const);
    if (outcome !== "failed") return outcome;
    await pause(pauseAfterFailure);
  }
  return "lost";
}

/** Retries until `act` finds room (true), or until 30 s are over or `signal` aborts (false). */
export async function whenRoom(act: () => Promise<boolean>, signal: AbortSignal): Promise<boolean> {
  const until = performance.now() + longestWait;
  while (!signal.aborted && performance.now() < until) {
    await pause(pauseWhenFull, undefined, { signal }).catch(() => {});
    if (!signal.aborted && (await act())) return true;
  }
  return false;
}
