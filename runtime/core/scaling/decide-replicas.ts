import type { ScaleRules } from "./scale-rules.ts";

/** Share by which load must be below the capacity of fewer replicas before some are stopped: noise must not flap. */
const tolerance = 0.1;

/** How many replicas a load asks for. */
export interface ReplicasForLoad {
  /** By the rule (contract §5.1): below this number, replicas are started. */
  readonly up: number;
  /** The same with spare capacity of one replica at most: above this number, replicas are stopped. */
  readonly down: number;
}

/** Desired = ceil(load ÷ (target × proportion)), within min and max; `load` is that of all ready replicas together. */
export function replicasForLoad(
  load: number,
  { target, targetProportion, min, max }: Pick<ScaleRules, "target" | "targetProportion" | "min" | "max">,
): ReplicasForLoad {
  const exact = load / (target * targetProportion);
  const within = (count: number): number => Math.min(Math.max(ceil(count), min), max);
  return { up: within(exact), down: within(exact + Math.min(exact * tolerance, 1)) };
}

/** Load of this many times the capacity of the current replicas is not noise. */
const surge = 1.5;

/**
 * Whether load rises so fast that the average over the whole window would follow it in many small steps; `rising`: a
 * rise was found a moment ago.
 */
export function isSurge(
  { value, recent = 0 }: { readonly value: number; readonly recent?: number },
  replicas: number,
  { target, targetProportion }: Pick<ScaleRules, "target" | "targetProportion">,
  rising: boolean,
): boolean {
  return recent > value && recent >= (rising ? 1 + tolerance : surge) * replicas * target * targetProportion;
}

/** Rounds up, apart from floating-point error: 45 calls at 50 × 0.9 each need one replica, even if that is below 45. */
function ceil(count: number): number {
  const nearest = Math.round(count);
  return Math.abs(count - nearest) <= 1e-9 * Math.max(1, count) ? nearest : Math.ceil(count);
}
