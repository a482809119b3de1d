import type { HistoryBounds } from "../ports/call-history.ts";
import { rollupSteps, type RollupStep } from "./rollups/rollup.ts";

/** Calls that are removed at a time. */
const atOnce = 1_000;

/** What is to be removed next; open calls always stay. */
export interface TrimPlan {
  /** Ended calls that were accepted before this are too old, Unix milliseconds. */
  readonly acceptedBefore: number;
  /** Most calls that are removed now, the oldest first. */
  readonly limit: number;
  /** So many of the oldest ended calls are removed whatever their age: there are too many, or they take too much. */
  readonly excess: number;
  /** Intervals of rollups that began before this are too old, Unix milliseconds. */
  readonly rollupsBefore: Readonly<Record<RollupStep, number>>;
}

/** Decides what is to be removed of a history of a size, 1 000 calls at a time. `now` is Unix milliseconds. */
export function trimPlan(
  size: { readonly calls: number; readonly bytes: number },
  bounds: HistoryBounds,
  now: number,
): TrimPlan {
  const tooMany = Math.max(0, size.calls - bounds.calls);
  const bytesOfOne = size.bytes / Math.max(1, size.calls);
  const tooLarge = size.bytes > bounds.bytes ? Math.ceil((size.bytes - bounds.bytes) / Math.max(1, bytesOfOne)) : 0;
  return {
    acceptedBefore: now - bounds.age,
    limit: atOnce,
    excess: Math.min(atOnce, Math.max(tooMany, tooLarge), size.calls),
    rollupsBefore: {
      "10s": now - rollupSteps["10s"].kept,
      "1m": now - rollupSteps["1m"].kept,
      "1h": now - rollupSteps["1h"].kept,
    },
  };
}
