import { PlatformError } from "../../api/platform-error.ts";
import { ActivityWindows, type FunctionActivity } from "./activity-windows.ts";
import { activeHold } from "./count-hold.ts";
import { decideScale, type Load, type ScaleDecision } from "./decide-scale.ts";
import { DesiredHistory } from "./desired-history.ts";
import type { DesiredFunction } from "../functions/desired-function.ts";
import type { SeenFunction } from "../functions/function-facts.ts";
import { LoadWindow } from "./load-window.ts";
import type { ActivityReport } from "../ports/activity.ts";
import type { ReportCoverage } from "./reporting-sources.ts";
import type { ScaleRules } from "./scale-rules.ts";

/** Options of a scaler; durations in milliseconds. */
export interface ScalerOptions {
  /** Load is averaged over it, and nothing is scaled down before all of it was observed. */
  readonly window: number;
  /** How long a process that went silent keeps functions from being scaled down. */
  readonly silenceTimeout: number;
  /** Longest that callers wait for a first replica. */
  readonly wakeTimeout: number;
  /** Time without calls after which a function goes to zero. */
  readonly idleAfter: (rules: ScaleRules) => number;
}

/** What is decided about one function, as it was seen. */
export interface ScalePlan {
  readonly wanted: DesiredFunction;
  readonly rules: ScaleRules;
  readonly decision: ScaleDecision;
}

/** What must be looked up for the next sweep. */
export interface ScaleNeeds {
  /** Functions whose processor time counts. */
  readonly cpu: readonly DesiredFunction[];
  /** Queues whose depth counts. */
  readonly queues: readonly string[];
}

/** The same instant in monotonic and in Unix milliseconds. */
interface Moment {
  readonly now: number;
  readonly wallClock: number;
}

interface Scaled {
  wanted: DesiredFunction;
  rules: ScaleRules;
  queue: string;
  ready: number;
  changedAt: number;
  raisedAt: number;
  readyAt: number | undefined;
  readonly history: DesiredHistory;
  cpu: { readonly window: LoadWindow; readonly since: number } | undefined;
}

/**
 * Decides on all functions from what it is told. It does not act, so that in a process that is not the leader it knows
 * as much as in the leader. Times are monotonic milliseconds and never go back.
 */
export class Scaler {
  readonly #options: ScalerOptions;
  readonly #activity: ActivityWindows;
  readonly #functions = new Map<string, Scaled>();
  /** Queued calls by function, and since when they are known without a gap. */
  #queued: { readonly depths: ReadonlyMap<string, number>; readonly since: number } | undefined;

  constructor(options: ScalerOptions, now: number) {
    this.#options = options;
    this.#activity = new ActivityWindows(options, now);
  }

  addReport(report: ActivityReport, now: number): void {
    this.#activity.addReport(report, now);
  }

  /** Records the desired state of a function, and its number of ready replicas. */
  see(key: string, { wanted, facts }: SeenFunction, ready: number, now: number): void {
    // An older version accepted annotations that are unusable now: nothing can call it, so there is nothing to scale.
    if (facts.limits instanceof PlatformError) return this.forget(key);
    const rules = facts.scale;
    const { queue } = facts.limits;
    const known = this.#functions.get(key);
    if (known === undefined || known.wanted.createdAt !== wanted.createdAt) {
      if (known !== undefined) this.#activity.forget(key);
      this.#activity.follow(key, now);
      const readyAt = ready > 0 ? now : undefined;
      const history = new DesiredHistory();
      this.#functions.set(key, {
        wanted,
        rules,
        queue,
        ready,
        changedAt: now,
        raisedAt: now,
        readyAt,
        history,
        cpu: undefined,
      });
      return;
    }
    const { replicas, generation, scaled } = known.wanted;
    if (replicas !== wanted.replicas || generation !== wanted.generation || scaled?.at !== wanted.scaled?.at) {
      known.changedAt = now;
    }
    if (wanted.replicas > replicas || generation !== wanted.generation) known.raisedAt = now;
    if (wanted.replicas === 0 || replicas === 0) known.readyAt = undefined;
    if (ready > 0) known.readyAt ??= now;
    known.wanted = wanted;
    known.rules = rules;
    known.queue = queue;
    known.ready = ready;
  }

  /** The function is gone. */
  forget(key: string): void {
    this.#functions.delete(key);
    this.#activity.forget(key);
  }

  needs(): ScaleNeeds {
    const cpu: DesiredFunction[] = [];
    const queues = new Set<string>();
    for (const { wanted, rules, queue } of this.#functions.values()) {
      if (wanted.replicas === 0) continue;
      const scales = rules.min < rules.max;
      if (scales && rules.type === "cpu") cpu.push(wanted);
      if (rules.zero || (scales && rules.type === "queue")) queues.add(queue);
    }
    return { cpu, queues: [...queues] };
  }

  /** Records the CPU use of all replicas of a function, in thousandths of a CPU; undefined: not known. */
  measure(key: string, cpu: number | undefined, now: number): void {
    const scaled = this.#functions.get(key);
    if (scaled === undefined) return;
    if (cpu === undefined) scaled.cpu = undefined;
    else {
      scaled.cpu ??= { window: new LoadWindow({ window: this.#options.window, lag: 0 }, now), since: now };
      scaled.cpu.window.set(cpu, now);
    }
  }

  /** Records the calls in the queues that `needs` named, by function; undefined: not known. */
  count(depths: ReadonlyMap<string, number> | undefined, now: number): void {
    this.#queued = depths === undefined ? undefined : { depths, since: this.#queued?.since ?? now };
  }

  /** Drops processes that were silent for too long, and returns their names. */
  settle(now: number): readonly string[] {
    return this.#activity.settle(now);
  }

  /** Whether all processes that should report do. */
  coverage(now: number): ReportCoverage {
    return this.#activity.coverage(now);
  }

  /**
   * One decision for each function, each made when it is consumed, as all of them at once would take much memory.
   * `wallClock` is `now` in Unix milliseconds.
   */
  *plans(now: number, wallClock: number): Generator<ScalePlan> {
    const hearing = this.#activity.coverage(now);
    for (const [key, scaled] of this.#functions) {
      const { wanted, rules } = scaled;
      yield { wanted, rules, decision: this.#decide(key, scaled, hearing, { now, wallClock }) };
    }
  }

  #decide(key: string, scaled: Scaled, hearing: ReportCoverage, { now, wallClock }: Moment): ScaleDecision {
    const { wanted, rules, ready, changedAt, raisedAt, readyAt, history } = scaled;
    const { window, wakeTimeout, idleAfter } = this.#options;
    const activity = wanted.replicas === 0 ? undefined : this.#activity.of(key, now);
    return decideScale({
      rules,
      replicas: wanted.replicas,
      ready,
      changedAt,
      raisedAt,
      readyAt,
      external: wanted.externalScaler,
      hold: activeHold(wanted, wallClock),
      history,
      coverage: hearing,
      inFlight: activity?.inFlight ?? 0,
      lastCallAt: activity?.lastCallAt,
      queued: this.#queued === undefined ? undefined : (this.#queued.depths.get(key) ?? 0),
      load: activity === undefined ? undefined : this.#load(key, scaled, activity, now),
      idleAfter: idleAfter(rules),
      window,
      wakeTimeout,
      now,
    });
  }

  #load(key: string, { rules, cpu }: Scaled, activity: FunctionActivity, now: number): Load | undefined {
    switch (rules.type) {
      case "rps":
        return { value: activity.rate, recent: activity.recentRate, since: Number.NEGATIVE_INFINITY };
      case "capacity":
        return { value: activity.busy, recent: activity.recentBusy, since: Number.NEGATIVE_INFINITY };
      case "cpu":
        return cpu === undefined ? undefined : { value: cpu.window.average(now), since: cpu.since };
      case "queue":
        if (this.#queued === undefined) return undefined;
        return { value: this.#queued.depths.get(key) ?? 0, since: this.#queued.since };
      default:
        return rules.type satisfies never;
    }
  }
}
