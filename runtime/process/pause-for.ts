import { setTimeout as pause } from "node:timers/promises";

/** Resolves after so many milliseconds, or when `signal` aborts. */
export async function pauseFor(milliseconds: number, signal: AbortSignal): Promise<void> {
  await pause(milliseconds, undefined, { signal }).catch(() => {});
}
