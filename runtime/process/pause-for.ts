import { setTimeout as pause } from "node:timers/promises";

/** Resolves after the given time, or when `signal` aborts. */
export async function pauseFor(milliseconds: number, signal: AbortSignal): Promise<void> {
  await pause(milliseconds, undefined, { signal }).catch(() => {});
}
