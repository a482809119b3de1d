import type { HistoryReport, HistoryReports } from "../../core/ports/history-reports.ts";
import type { AnsweredCall } from "../../core/history/history-row.ts";
import type { RollupPoint } from "../../core/history/rollups/rollup.ts";
import type { Log } from "../../process/log.ts";
import { pauseFor } from "../../process/pause-for.ts";
import type { HistoryMetrics } from "../history-metrics.ts";
import type { HistoryWrites } from "../history-writes.ts";
import { ScalingIntervals } from "./scaling-intervals.ts";

export interface StoreReportsParts {
  readonly reports: HistoryReports;
  readonly writes: HistoryWrites;
  readonly metrics: HistoryMetrics;
  readonly log: Log;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** Milliseconds between two writes. */
const period = 1_000;
/** What waits to be stored at most. */
const most = { calls: 10_000, points: 50_000 };
/** Calls, or points, of one write. */
const batchSize = 1_000;

/** Stores what processes report, once a second, until `stop` aborts. What cannot be stored is counted and dropped. */
export class ReportStore {
  readonly #parts: StoreReportsParts;
  readonly #scalings = new ScalingIntervals();
  #calls: AnsweredCall[] = [];
  #points: RollupPoint[] = [];

  constructor(parts: StoreReportsParts) {
    this.#parts = parts;
  }

  /** Never rejects. */
  async run(stop: AbortSignal): Promise<void> {
    const unsubscribe = this.#parts.reports.subscribe((report) => this.#take(report));
    while (!stop.aborted) {
      await pauseFor(period, stop);
      await this.#store(stop.aborted ? Number.POSITIVE_INFINITY : this.#parts.now());
    }
    unsubscribe();
  }

  #take(report: HistoryReport): void {
    switch (report.kind) {
      case "sync":
        this.#drop("sync", put(this.#calls, report.calls, most.calls));
        break;
      case "rollup":
        this.#drop("rollups", put(this.#points, report.points, most.points));
        break;
      case "scaling":
        this.#drop("rollups", this.#scalings.add(report.scaling) ? 0 : 1);
        break;
      default:
        report satisfies never;
    }
  }

  async #store(now: number): Promise<void> {
    const calls = this.#calls;
    const points = [...this.#points, ...this.#scalings.take(now)];
    this.#calls = [];
    this.#points = [];
    for (let from = 0; from < Math.max(calls.length, points.length); from += batchSize) {
      const some = calls.slice(from, from + batchSize);
      const rollups = points.slice(from, from + batchSize);
      const changes = some.map((call) => ({ kind: "sync", call }) as const);
      try {
        await this.#parts.writes.run((writer) => writer.apply({ changes, rollups }));
        this.#parts.metrics.applied.inc(changes.length);
      } catch (err) {
        this.#parts.log.debug({ err }, "cannot store reports");
        this.#drop("sync", some.length);
        this.#drop("rollups", rollups.length);
      }
    }
  }

  #drop(what: "sync" | "rollups", count: number): void {
    if (count > 0) this.#parts.metrics.dropped.inc({ what }, count);
  }
}

/** Appends what there is room for; the number of those that there is none for. */
function put<T>(list: T[], items: readonly T[], limit: number): number {
  const room = Math.max(0, limit - list.length);
  list.push(...items.slice(0, room));
  return Math.max(0, items.length - room);
}
