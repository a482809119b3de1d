import type { ScaleRules } from "./scale-rules.ts";

/** By how much load must fall below what fewer replicas could bear before they are taken away: noise does not flap. */
const tolerance = 0.1;

/** How many replicas a load asks for. */
export interface ReplicasForLoad {
  /** As the rule says (contract §5.1): with fewer, more are started. */
  readonly up: number;
  /** The same with some load to spare, one replica's at most: with more than that, some are stopped. */
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

/** So many times what the replicas there are can bear is no noise. */
const surge = 1.5;

/**
 * Whether load rises so fast that the average over the whole window would follow it in many small steps; `rising`: it
 * was found to rise a moment ago.
 */
export function isSurge(
  { value, recent = 0 }: { readonly value: number; readonly recent?: number },
  replicas: number,
  { target, targetProportion }: Pick<ScaleRules, "target" | "targetProportion">,
  rising: boolean,
): boolean {
  return recent > value && recent >= (rising ? 1 + tolerance : surge) * replicas * target * targetProportion;
}

/** 45 calls at 45 each need one replica, also where 50 × 0.9 is a hair less than 45. */
function ceil(count: number): number {
  const nearest = Math.round(count);
  return Math.abs(count - nearest) <= 1e-9 * Math.max(1, count) ? nearest : Math.ceil(count);
}
