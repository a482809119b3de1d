import type { HistoryBounds } from "../ports/call-history.ts";
import { rollupSteps, type RollupStep } from "./rollups/rollup.ts";

/** Calls that are removed at a time. */
const atOnce = 1_000;
/** Share of the bytes that calls keep, however much the rollups take: those make room first then. */
const shareOfCalls = 0.5;

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
  /** Bytes that rollups take too much: the oldest intervals of the finest step are removed first. */
  readonly rollupExcess: number;
}

/** How much is stored. */
export interface HistorySize {
  readonly calls: number;
  readonly bytes: number;
  /** Bytes that the calls take, about; all of them if it is not known. */
  readonly callBytes?: number;
}

/** Decides what is to be removed of a history of a size, 1 000 calls at a time. `now` is Unix milliseconds. */
export function trimPlan(size: HistorySize, bounds: HistoryBounds, now: number): TrimPlan {
  const { calls, bytes, callBytes = bytes } = size;
  const tooMany = Math.max(0, calls - bounds.calls);
  const tooLarge = Math.max(0, bytes - bounds.bytes);
  const ofCalls = Math.min(tooLarge, Math.max(0, callBytes - shareOfCalls * bounds.bytes));
  const bytesOfOne = Math.max(1, callBytes / Math.max(1, calls));
  return {
    acceptedBefore: now - bounds.age,
    limit: atOnce,
    excess: Math.min(atOnce, Math.max(tooMany, Math.ceil(ofCalls / bytesOfOne)), calls),
    rollupsBefore: {
      "10s": now - rollupSteps["10s"].kept,
      "1m": now - rollupSteps["1m"].kept,
      "1h": now - rollupSteps["1h"].kept,
    },
    rollupExcess: tooLarge - ofCalls,
  };
}
