import { setImmediate as nextTurn } from "node:timers/promises";

import { formatRef, type FunctionRef } from "../../functions/function-ref.ts";
import type { HistoryReports } from "../../ports/history-reports.ts";
import { presence } from "../rollups/presence.ts";
import type { RollupPoint } from "../rollups/rollup.ts";
import { ReportTimes, type ReportTime } from "./report-times.ts";
import { FunctionTallies } from "./function-tallies.ts";
import type { FunctionGauges, FunctionTally } from "./function-tally.ts";

/** What a process knows of one function now. */
export interface RollupView extends Omit<FunctionGauges, "queued"> {
  readonly ref: FunctionRef;
  /** Its replicas, of which another process reports the changes. */
  readonly knownReplicas?: number | undefined;
}

export interface RollupReporterParts {
  readonly reports: Pick<HistoryReports, "publish">;
  /** Name of the process, never used by another one. */
  readonly source: string;
  /** Whether it reports each interval, also one without a call, under `presence`. */
  readonly reportsPresence?: boolean;
  /** Queued calls by `<name>.<namespace>`, 0 if absent; undefined = not known. Never rejects. */
  readonly queued?: () => Promise<ReadonlyMap<string, number> | undefined>;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

/** What is counted of `presence`. */
const noCalls = { calls: [0, 0, 0, 0, 0], coldStarts: 0 };
/** Points of one message. */
const perMessage = 100;
/** Functions that are looked at until calls have their turn. */
const perTurn = 100;

/** Reports every 10 s what changed of the functions in this process. */
export class RollupReporter {
  readonly #parts: RollupReporterParts;
  readonly #now: () => number;
  readonly #tallies = new FunctionTallies();
  readonly #times: ReportTimes;
  /** Not published yet. */
  #points: RollupPoint[] = [];
  #look: () => Iterable<RollupView> = () => [];
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(parts: RollupReporterParts) {
    this.#parts = parts;
    this.#now = parts.now ?? Date.now;
    this.#times = new ReportTimes(parts.source);
  }

  /** Counts the ended calls of a function, by `<name>.<namespace>`. */
  tallyOf(key: string): FunctionTally {
    return this.#tallies.of(key);
  }

  /** The function is gone: one of the same name begins at 0. */
  forget(key: string): void {
    this.#tallies.forget(key);
  }

  /** Reports from now on; `look` returns all functions. */
  open(look: () => Iterable<RollupView>): void {
    this.#look = look;
    this.#schedule();
  }

  /** Reports what was not reported yet, and stops. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const _ of this.#turns(this.#times.current(this.#now()))) continue;
  }

  async #report(): Promise<void> {
    const time = this.#times.ended(this.#now());
    const queued = await this.#parts.queued?.();
    if (this.#isClosed) return;
    for (const _ of this.#turns(time, queued)) {
      await nextTurn();
      if (this.#isClosed) return;
    }
    this.#schedule();
  }

  #schedule(): void {
    this.#timer = setTimeout(() => void this.#report(), this.#times.wait(this.#now()));
  }

  /** Publishes the points of one interval; yields where calls may have their turn. */
  *#turns(time: ReportTime, queued?: ReadonlyMap<string, number>): Generator<undefined, void> {
    let looked = 0;
    if (this.#parts.reportsPresence === true) this.#points.push({ ...presence, ...time, ...noCalls });
    for (const view of this.#look()) {
      const point = this.#point(view, time, queued);
      if (point !== undefined) this.#points.push(point);
      if (this.#points.length === perMessage) this.#publish();
      looked += 1;
      if (looked % perTurn === 0) yield;
    }
    this.#publish();
  }

  #publish(): void {
    const points = this.#points;
    this.#points = [];
    if (points.length > 0) this.#parts.reports.publish({ kind: "rollup", points });
  }

  #point(
    { ref, inFlight, replicas, knownReplicas }: RollupView,
    time: ReportTime,
    queued: ReadonlyMap<string, number> | undefined,
  ): RollupPoint | undefined {
    const key = formatRef(ref);
    const calls = queued === undefined ? undefined : (queued.get(key) ?? 0);
    const values = this.#tallies.take(key, { inFlight, replicas, queued: calls });
    if (values === undefined) return undefined;
    return { ...ref, ...time, ...(knownReplicas === undefined ? {} : { replicas: knownReplicas }), ...values };
  }
}
