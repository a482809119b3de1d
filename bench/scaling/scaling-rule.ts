import type { ScaleRules } from "../../runtime/core/scaling/scale-rules.ts";
import { arrivedLoad, wasCalled, type ScalingRun } from "./scaling-run.ts";

/** How the platform evaluates load; milliseconds. */
export interface Pace {
  /** Between two evaluations. */
  readonly period: number;
  /** Time over which load is averaged. */
  readonly window: number;
}

/**
 * Replicas by the rule of the contract (§5.1) for what arrived in the window before `at`; for a queue, its depth at
 * `at`.
 */
export function ruleAnswer(run: ScalingRun, at: number, { window }: Pace): number {
  return withinBounds(run.rules, replicasWorth(run, at, window));
}

/** A simulated follower of the rule: the time of its first evaluation, and the factor of its measurement error. */
interface Follower {
  readonly first: number;
  readonly factor: number;
}

/**
 * How often replicas change, or turn, by the rule: the maximum over followers that evaluate what arrived as often as
 * the platform but without delay, some of them half a period later than others, some measuring a twentieth more or
 * less. Where load is briefly at a threshold, one follower crosses it and another does not, and both are right.
 */
export function expectedOf(run: ScalingRun, pace: Pace, count: (counts: readonly number[]) => number): number {
  const followers = [0, pace.period / 2].flatMap((first) => [0.95, 1, 1.05].map((factor) => ({ first, factor })));
  return Math.max(...followers.map((follower) => count(followRule(run, pace, follower))));
}

function followRule(run: ScalingRun, { period, window }: Pace, { first, factor }: Follower): readonly number[] {
  const { rules, length } = run;
  const counts: number[] = [];
  const past: { readonly at: number; readonly count: number }[] = [];
  let [count, changedAt] = [run.samples[0]?.desired ?? rules.min, 0];
  for (let at = first; at <= length; at += period) {
    const worth = replicasWorth(run, at, window) * factor;
    const up = withinBounds(rules, worth);
    // Noise below a tenth, or below one replica, removes no replica.
    const down = withinBounds(rules, worth + Math.min(worth / 10, 1));
    past.push({ at, count: down });
    const held = Math.max(...past.filter((each) => each.at >= at - rules.downWindow).map((each) => each.count));
    let next = count;
    if (rules.zero && at >= rules.zeroDuration && !wasCalled(run, at - rules.zeroDuration, at)) next = 0;
    else if (count === 0) next = wasCalled(run, at - period, at) ? rules.min : 0;
    else if (up > count) next = up;
    else if (held < count && at - changedAt >= window && at >= window + rules.downWindow) next = held;
    if (next !== count) [count, changedAt] = [next, at];
    counts.push(count);
  }
  return counts;
}

/** How often a series of counts changes. */
export function changesOf(counts: readonly number[]): number {
  return counts.filter((count, index) => index > 0 && count !== counts[index - 1]).length;
}

/** How often a series of counts turns from growing to shrinking or back. */
export function turnsOf(counts: readonly number[]): number {
  const steps = counts.map((count, index) => Math.sign(count - (counts[index - 1] ?? count))).filter(Boolean);
  return steps.filter((step, index) => index > 0 && step !== steps[index - 1]).length;
}

function replicasWorth(run: ScalingRun, at: number, window: number): number {
  const { type, target, targetProportion } = run.rules;
  return arrivedLoad(run, type === "queue" ? at - 1 : at - window, at) / (target * targetProportion);
}

function withinBounds({ min, max }: ScaleRules, worth: number): number {
  return Math.min(Math.max(Math.ceil(worth - 1e-9), min), max);
}
