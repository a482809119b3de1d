import { setTimeout as pause } from "node:timers/promises";

import type { Platform } from "../../../test/support/platform.ts";
import { killFaults } from "../soak-faults.ts";

/** Periodically kills a worker or the broker and restarts it, until `signal` aborts. */
export async function killNowAndThen(
  platform: Platform,
  options: {
    /** Milliseconds between two kills. */
    readonly every: number;
    readonly chance: () => number;
    /** Called with what is about to be killed, and whether runs are lost by it. */
    readonly onKill: (name: string, losesRuns: boolean) => void;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { every, chance, onKill, signal } = options;
  const faults = killFaults(platform, chance);
  let due = performance.now() + every;
  while (!signal.aborted) {
    await pause(Math.max(0, due - performance.now()), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    const fault = faults[Math.floor(chance() * faults.length)];
    if (fault === undefined) return;
    onKill(fault.name, fault.losesRuns);
    await fault.act();
    due = Math.max(due + every, performance.now());
  }
}
