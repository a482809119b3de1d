import { reportPeriod } from "../../runtime/core/scaling/activity-reporter.ts";
import { quantile } from "../../test/support/load.ts";
import { changesOf, expectedOf, highestAnswer, ruleAnswer, turnsOf, type Pace } from "./scaling-rule.ts";
import { sampleEvery, wasCalled, type ScalingRun } from "./scaling-run.ts";

export interface ScalingVerdict {
  readonly name: string;
  readonly calls: number;
  readonly failedCalls: number;
  /** Maximum of desired replicas. */
  readonly peak: number;
  /** Greatest distance of desired replicas from the range that the rule gives. */
  readonly distance: number;
  readonly changes: number;
  readonly expectedChanges: number;
  /** Milliseconds from when a call was due to its reply. */
  readonly median: number;
  readonly slowest: number;
  /** One sentence per fault; empty when the run passed. */
  readonly faults: readonly string[];
}

/** A busy machine delays everything by that much, and by more where the samples of replicas came late. */
const slack = 1_500;
/** Time within which a desired replica must be ready. */
const startTime = 10_000;

/**
 * Compares replicas with the rule's result for the load that arrived. The platform learns of load up to one report
 * late, leaves the newest tenths of its window out for that, and decides once per period, so it may act on any window
 * that ended within that time. Replicas may therefore be at most one fewer than the rule's minimum in that time, and at
 * most one more than its maximum, which reaches back further by the window and `down.window`, for which replicas are
 * kept; that maximum takes in what a single report may show, as the platform acts on a surge at once. They may turn
 * from growing to shrinking, or back, once more often than for a follower that obeys the rule at once: on a busy
 * machine they reach the same count in other steps. No call may have failed.
 */
export function judgeScaling(run: ScalingRun, pace: Pace): ScalingVerdict {
  const { rules, samples, calls } = run;
  const late = Math.max(0, ...samples.map(({ at }, index) => at - (samples[index - 1]?.at ?? 0) - sampleEvery));
  const lag = reportPeriod + pace.window / 5 + pace.period + slack + late;
  const kept = lag + pace.window + rules.downWindow;
  const answers = samples.map(({ at }) => ({
    at,
    byWindow: ruleAnswer(run, at, pace),
    highest: highestAnswer(run, at, pace),
  }));
  const since = (from: number, to: number) => answers.filter(({ at }) => at >= from && at <= to);

  const distances = samples.map(({ at, desired }) => {
    const under =
      desired === 0 || at < lag ? 0 : Math.min(...since(at - lag, at).map(({ byWindow }) => byWindow)) - desired;
    const over = at < lag ? 0 : desired - Math.max(...since(at - kept, at).map(({ highest }) => highest));
    return { at, desired, off: Math.max(0, under, over), byRule: under > over ? desired + under : desired - over };
  });
  const distance = Math.max(0, ...distances.map(({ off }) => off));
  const faults = distances
    .filter(({ off }) => off > 1 && off === distance)
    .slice(0, 1)
    .map(({ at, desired, byRule }) => `after ${seconds(at)} ${desired} replicas, the rule says ${byRule}`);
  faults.push(...zeroFaults(run, lag), ...startFaults(run));

  const desiredCounts = samples.map(({ desired }) => desired);
  const [turns, expectedTurns] = [turnsOf(desiredCounts), expectedOf(run, pace, turnsOf)];
  if (turns > expectedTurns + 1) faults.push(`replicas turned ${turns} times, ${expectedTurns} were expected`);
  const failures = calls.flatMap(({ failure }) => (failure === undefined ? [] : [failure]));
  if (failures.length > 0) faults.push(`${failures.length} calls failed: ${[...new Set(failures)].join(", ")}`);
  if (calls.length === 0 || samples.length === 0) faults.push("nothing was seen");

  const latencies = calls.map(({ latency }) => latency).toSorted((a, b) => a - b);
  return {
    name: run.name,
    calls: calls.length,
    failedCalls: failures.length,
    peak: Math.max(0, ...desiredCounts),
    distance,
    changes: changesOf(desiredCounts),
    expectedChanges: expectedOf(run, pace, changesOf),
    median: quantile(latencies, 0.5),
    slowest: latencies.at(-1) ?? Number.NaN,
    faults,
  };
}

/** Replicas must be at zero after `zero-duration` without a call, and only then. */
function zeroFaults(run: ScalingRun, lag: number): string[] {
  const { rules, samples } = run;
  const wrong = samples.find(({ at, desired }) => {
    if (desired === 0) return !rules.zero || wasCalled(run, at - rules.zeroDuration + lag, at - lag);
    const quiet = at - rules.zeroDuration - 2 * lag;
    return rules.zero && quiet >= 0 && !wasCalled(run, quiet, at);
  });
  if (wrong === undefined) return [];
  return [
    `after ${seconds(wrong.at)} it ${wrong.desired === 0 ? "slept though it was called" : "was awake for nothing"}`,
  ];
}

/** What was desired throughout `startTime` must be ready; a sample sees `ready` a moment after `desired`. */
function startFaults({ samples }: ScalingRun): string[] {
  const late = samples.find(({ at, ready }, index) => {
    const before = samples.slice(0, index + 2).filter((sample) => sample.at >= at - startTime);
    return at >= startTime && ready < Math.min(...before.map(({ desired }) => desired));
  });
  return late === undefined ? [] : [`after ${seconds(late.at)} only ${late.ready} were ready`];
}

function seconds(at: number): string {
  return `${(at / 1_000).toFixed(1)} s`;
}
