import type { ScaleRules } from "../../runtime/core/scaling/scale-rules.ts";
import { arrivedLoad, reportedPeak, wasCalled, type ScalingRun } from "./scaling-run.ts";

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
  return withinBounds(run.rules, replicasWorth(run.rules, windowLoad(run, at, window)));
}

/** The most replicas that the rule gives for any one report of the window before `at`. */
export function highestAnswer(run: ScalingRun, at: number, { window }: Pace): number {
  const reported = reportedPeak(run, at - window, at);
  return withinBounds(run.rules, replicasWorth(run.rules, Math.max(windowLoad(run, at, window), reported)));
}

/** A simulated follower of the rule. */
interface Follower {
  /** When it first evaluates. */
  readonly first: number;
  /** Of its measurement error. */
  readonly factor: number;
  /** Acts on a single report, if that shows half as much again as its replicas are to bear. */
  readonly quick: boolean;
}

/**
 * How often replicas change, or turn, by the rule: the maximum over followers that evaluate what arrived as often as
 * the platform but without delay, some of them half a period later than others, some measuring a twentieth more or
 * less, some acting on single reports. Where load is briefly at a threshold, one follower crosses it and another does
 * not, and both are right.
 */
export function expectedOf(run: ScalingRun, pace: Pace, count: (counts: readonly number[]) => number): number {
  const followers = [0, pace.period / 2].flatMap((first) =>
    [0.95, 1, 1.05].flatMap((factor) => [false, true].map((quick) => ({ first, factor, quick }))),
  );
  return Math.max(...followers.map((follower) => count(followRule(run, pace, follower))));
}

function followRule(run: ScalingRun, { period, window }: Pace, { first, factor, quick }: Follower): readonly number[] {
  const { rules, length } = run;
  const counts: number[] = [];
  const past: { readonly at: number; readonly count: number }[] = [];
  let [count, changedAt] = [run.samples[0]?.desired ?? rules.min, 0];
  for (let at = first; at <= length; at += period) {
    const worth = replicasWorth(rules, windowLoad(run, at, window)) * factor;
    const reported = quick ? replicasWorth(rules, reportedPeak(run, at - period, at)) : 0;
    const up = withinBounds(rules, reported >= 1.5 * count ? Math.max(worth, reported) : worth);
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

function windowLoad(run: ScalingRun, at: number, window: number): number {
  return arrivedLoad(run, run.rules.type === "queue" ? at - 1 : at - window, at);
}

function replicasWorth({ target, targetProportion }: ScaleRules, load: number): number {
  return load / (target * targetProportion);
}

function withinBounds({ min, max }: ScaleRules, worth: number): number {
  return Math.min(Math.max(Math.ceil(worth - 1e-9), min), max);
}
