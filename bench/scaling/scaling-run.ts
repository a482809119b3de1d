import { reportPeriod } from "../../runtime/core/scaling/activity-reporter.ts";
import type { ScaleRules } from "../../runtime/core/scaling/scale-rules.ts";

/** One call; milliseconds since the beginning of the run. */
export interface LoadCall {
  /** When it was due to be sent. */
  readonly due: number;
  /** When it arrived at the gateway; for a queued call, when it was accepted. */
  readonly begin: number;
  /** When the gateway had replied; for a queued call, when it was done. */
  readonly end: number;
  /** From when it was due until its sender had the reply, so a stall counts for every call that it delayed. */
  readonly latency: number;
  /** Absent on success. */
  readonly failure?: string;
}

/** Milliseconds between two samples of replicas. */
export const sampleEvery = 250;

/** Replicas at one time. */
export interface ReplicaSample {
  readonly at: number;
  readonly desired: number;
  readonly ready: number;
}

/** Thousandths of a processor that all replicas together used between two times. */
export interface CpuSample {
  readonly from: number;
  readonly to: number;
  readonly cpu: number;
}

/** What was observed of one function under load. */
export interface ScalingRun {
  readonly name: string;
  readonly rules: ScaleRules;
  /** Milliseconds. */
  readonly length: number;
  /** Sorted by `begin`. */
  readonly calls: readonly LoadCall[];
  readonly samples: readonly ReplicaSample[];
  /** Empty unless the function is scaled by CPU. */
  readonly cpu: readonly CpuSample[];
}

/** The load that arrived, averaged between two times, in the unit that the function is scaled by. */
export function arrivedLoad({ rules, calls, cpu }: ScalingRun, from: number, to: number): number {
  switch (rules.type) {
    case "rps":
      return (calls.filter(({ begin }) => begin >= from && begin < to).length / (to - from)) * 1_000;
    case "capacity":
    case "queue":
      return sum(calls.map((call) => overlap(call.begin, call.end, from, to))) / (to - from);
    case "cpu":
      return sum(cpu.map((sample) => sample.cpu * overlap(sample.from, sample.to, from, to))) / (to - from);
    default:
      return rules.type satisfies never;
  }
}

/**
 * The most load that one report of a process may show between two times: a busy machine holds calls up, and then they
 * arrive together.
 */
export function reportedPeak(run: ScalingRun, from: number, to: number): number {
  switch (run.rules.type) {
    case "rps":
    case "capacity": {
      const begun = run.calls.filter(({ begin }) => begin >= from && begin < to);
      return Math.max(0, ...begun.map(({ begin }) => arrivedLoad(run, begin, begin + reportPeriod)));
    }
    case "cpu":
    case "queue":
      return 0;
    default:
      return run.rules.type satisfies never;
  }
}

/** Whether a call was in flight between two times. */
export function wasCalled({ calls }: ScalingRun, from: number, to: number): boolean {
  return calls.some(({ begin, end }) => begin < to && end > from);
}

function overlap(begin: number, end: number, from: number, to: number): number {
  return Math.max(0, Math.min(end, to) - Math.max(begin, from));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
