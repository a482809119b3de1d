import { quantile } from "../../test/support/load.ts";
import { changesOf, expectedOf, ruleAnswer, turnsOf, type Pace } from "./scaling-rule.ts";
import { sampleEvery, wasCalled, type ScalingRun } from "./scaling-run.ts";

/** How one run went. */
export interface ScalingVerdict {
  readonly name: string;
  readonly calls: number;
  readonly failedCalls: number;
  /** Most replicas that were wanted. */
  readonly peak: number;
  /** By how much replicas were beyond what the rule answered at most. */
  readonly distance: number;
  readonly changes: number;
  readonly expectedChanges: number;
  /** Milliseconds from when a call was due to its answer. */
  readonly median: number;
  readonly slowest: number;
  /** What is wrong, a sentence each; empty: it passed. */
  readonly faults: readonly string[];
}

/** Every process says what it saw once a second. */
const reportPeriod = 1_000;
/** A machine that does other things, too, runs everything that much later; more where the looks at replicas came late. */
const slack = 1_500;
/** In that time a replica that is wanted is ready. */
const startTime = 10_000;

/**
 * Holds replicas against the rule's answer to what arrived. The platform hears of load up to a report late, leaves the
 * newest tenths of its window out for that, and looks once in a period: at a moment it may act on any of the windows
 * that ended within that time. So replicas may be at most one fewer than the least of the rule's answers in it, and at
 * most one more than the greatest; the latter reaches back further by the window and `down.window`, for which they are
 * kept. They may turn from growing to shrinking, or back, once more than those of who follows the rule at once: on a busy
 * machine they get to the same place in other steps. No call may have failed.
 */
export function judgeScaling(run: ScalingRun, pace: Pace): ScalingVerdict {
  const { rules, samples, calls } = run;
  const late = Math.max(0, ...samples.map(({ at }, index) => at - (samples[index - 1]?.at ?? 0) - sampleEvery));
  const lag = reportPeriod + pace.window / 5 + pace.period + slack + late;
  const kept = lag + pace.window + rules.downWindow;
  const answers = samples.map(({ at }) => ({ at, answer: ruleAnswer(run, at, pace) }));
  const since = (from: number, to: number): number[] =>
    answers.filter(({ at }) => at >= from && at <= to).map(({ answer }) => answer);

  const distances = samples.map(({ at, desired }) => {
    const few = desired === 0 || at < lag ? 0 : Math.min(...since(at - lag, at)) - desired;
    const many = at < lag ? 0 : desired - Math.max(...since(at - kept, at));
    return { at, desired, off: Math.max(0, few, many), answer: few > many ? desired + few : desired - many };
  });
  const distance = Math.max(0, ...distances.map(({ off }) => off));
  const faults = distances
    .filter(({ off }) => off > 1 && off === distance)
    .slice(0, 1)
    .map(({ at, desired, answer }) => `after ${seconds(at)} ${desired} replicas, the rule says ${answer}`);
  faults.push(...sleepFaults(run, lag), ...startFaults(run));

  const wanted = samples.map(({ desired }) => desired);
  const [turns, expectedTurns] = [turnsOf(wanted), expectedOf(run, pace, turnsOf)];
  if (turns > expectedTurns + 1) faults.push(`replicas turned ${turns} times, ${expectedTurns} were expected`);
  const failures = calls.flatMap(({ failure }) => (failure === undefined ? [] : [failure]));
  if (failures.length > 0) faults.push(`${failures.length} calls failed: ${[...new Set(failures)].join(", ")}`);
  if (calls.length === 0 || samples.length === 0) faults.push("nothing was seen");

  const latencies = calls.map(({ latency }) => latency).toSorted((a, b) => a - b);
  return {
    name: run.name,
    calls: calls.length,
    failedCalls: failures.length,
    peak: Math.max(0, ...wanted),
    distance,
    changes: changesOf(wanted),
    expectedChanges: expectedOf(run, pace, changesOf),
    median: quantile(latencies, 0.5),
    slowest: latencies.at(-1) ?? Number.NaN,
    faults,
  };
}

/** Zero is right after `zero-duration` without a call, and only then. */
function sleepFaults(run: ScalingRun, lag: number): string[] {
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

/** What was wanted all the time for long enough must be ready; a look sees what is ready a moment after what is wanted. */
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
