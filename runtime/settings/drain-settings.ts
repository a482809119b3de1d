import { formatDuration } from "../api/duration.ts";
import type { SettingRule } from "./setting-rules.ts";
import { optionalDuration } from "./setting.ts";

/** How those stop that have calls under way. */
export const drainSettings = {
  drainTimeout: optionalDuration("drain_timeout", {
    max: 24 * 3_600_000,
    about:
      "Longest a stop waits for calls under way, then they are cut, or handed back to their queue; absent: the longer of 30s and upstream_timeout, at most timeout_max",
  }),
};

/** What a stop waits for keeps within the longest that a call may take. */
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

/** What decides how long a stop waits for calls under way; milliseconds. */
export interface DrainFacts {
  readonly drainTimeout?: number | undefined;
  readonly upstreamTimeout: number;
  readonly timeoutMax: number;
}

const shortestDrain = 30_000;

/** Milliseconds for which gateways and queue-workers that stop let calls go on: drain_timeout, or what it is when absent. */
export function drainTimeoutOf({ drainTimeout, upstreamTimeout, timeoutMax }: DrainFacts): number {
  return drainTimeout ?? Math.min(Math.max(shortestDrain, upstreamTimeout), timeoutMax);
}
