import { formatDuration } from "../api/duration.ts";
import type { SettingRule } from "./setting-rules.ts";
import { optionalDuration } from "./setting.ts";

/** How processes with calls in flight stop. */
export const drainSettings = {
  drainTimeout: optionalDuration("drain_timeout", {
    max: 24 * 3_600_000,
    about:
      "Longest a stop waits for calls in flight, which are then aborted or handed back to their queue; when absent, the longer of 30s and upstream_timeout, at most timeout_max",
  }),
};

/** A drain may not last longer than the longest call. */
export const drainRule: SettingRule<{ readonly drainTimeout: number | undefined; readonly timeoutMax: number }> = {
  needs: ["drainTimeout", "timeoutMax"],
  sentence: "`drain_timeout` is at most `timeout_max`.",
  problems: ({ drainTimeout = 0, timeoutMax }) =>
    drainTimeout <= timeoutMax
      ? []
      : [
          `drain_timeout: expected at most timeout_max (${formatDuration(timeoutMax)}), got "${formatDuration(drainTimeout)}"`,
        ],
};

/** Settings that determine how long a stop waits for calls in flight; milliseconds. */
export interface DrainFacts {
  readonly drainTimeout?: number | undefined;
  readonly upstreamTimeout: number;
  readonly timeoutMax: number;
}

const shortestDrain = 30_000;

/** Milliseconds for which a stopping gateway or queue-worker lets calls continue: drain_timeout or its default. */
export function drainTimeoutOf({ drainTimeout, upstreamTimeout, timeoutMax }: DrainFacts): number {
  return drainTimeout ?? Math.min(Math.max(shortestDrain, upstreamTimeout), timeoutMax);
}
