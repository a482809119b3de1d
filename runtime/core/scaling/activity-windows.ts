import { reportPeriod } from "./activity-reporter.ts";
import { LoadWindow } from "./load-window.ts";
import type { ActivityReport } from "../ports/activity.ts";
import { isSilent, ReportingSources, type ReportCoverage, type ReportingSource } from "./reporting-sources.ts";

/** Activity of one function over all processes. */
export interface FunctionActivity {
  /** Calls that began per second, averaged over the window, and over its last fifth. */
  readonly rate: number;
  readonly recentRate: number;
  /** Calls in flight, likewise. */
  readonly busy: number;
  readonly recentBusy: number;
  /** Calls in flight by the last reports. */
  readonly inFlight: number;
  /** When a call was last in flight, as far as reported; undefined: never. */
  readonly lastCallAt: number | undefined;
}

interface Sums {
  readonly followedAt: number;
  /** Created at the first call, as most functions are idle. */
  windows: { readonly begun: LoadWindow; readonly busy: LoadWindow } | undefined;
  inFlight: number;
  lastCallAt: number | undefined;
}

const neverCalled: FunctionActivity = {
  rate: 0,
  recentRate: 0,
  busy: 0,
  recentBusy: 0,
  inFlight: 0,
  lastCallAt: undefined,
};

/** A stalled receiver gets several reports at once; none counts for more than this many milliseconds. */
const longestReport = 3 * reportPeriod;

/**
 * Adds up per function what gateways and queue-workers report, over a window. Only functions that are followed count.
 * Calls in flight are taken to be as many as last reported, until the next report says how long they really were.
 * Those of a silent process no longer count, as they may have gone elsewhere; `coverage` reports the silence. Times are
 * monotonic milliseconds.
 */
export class ActivityWindows {
  readonly #functions = new Map<string, Sums>();
  readonly #sources: ReportingSources;
  /** Silent processes, whose calls do not count. */
  readonly #withdrawn = new Set<string>();
  readonly #window: number;

  constructor(options: { readonly window: number; readonly silenceTimeout: number }, now: number) {
    this.#window = options.window;
    this.#sources = new ReportingSources(options.silenceTimeout, now);
  }

  /** Starts to add up reports of the function; does nothing if it already did. */
  follow(key: string, now: number): void {
    if (this.#functions.has(key)) return;
    const sums: Sums = { followedAt: now, windows: undefined, inFlight: 0, lastCallAt: undefined };
    this.#functions.set(key, sums);
    for (const source of this.#sources.all()) {
      if (!this.#withdrawn.has(source.name)) this.#change(sums, source.inFlight.get(key) ?? 0, now);
    }
  }

  /** The function is gone. */
  forget(key: string): void {
    this.#functions.delete(key);
  }

  addReport(report: ActivityReport, now: number): void {
    const { source, before } = this.#sources.addReport(report, now);
    const wasWithdrawn = this.#withdrawn.delete(source.name);
    const counted = wasWithdrawn ? undefined : before;
    // A report that comes early still covers a second: its calls are spread over no less.
    const from = Math.max(Math.min(before?.receivedAt ?? now, now - reportPeriod), now - longestReport);
    for (const { function: key, finished, inFlight, busy } of report.deltas) {
      const sums = this.#functions.get(key);
      if (sums === undefined) continue;
      const earlier = before?.inFlight.get(key) ?? 0;
      // Calls in flight of a process that did not report before may be old.
      const started = finished + (before === undefined && report.number > 1 ? 0 : inFlight - earlier);
      if (started > 0) this.#windowsOf(sums, from).begun.add(started, from, now);
      if (finished > 0 || inFlight > 0) sums.lastCallAt = now;
      // What counted for less than the time since the report before cannot be put right.
      if (busy === undefined || wasWithdrawn || (before?.receivedAt ?? now) < sums.followedAt) continue;
      const more = busy - earlier * timeOf(report, before, now);
      if (more !== 0) this.#windowsOf(sums, from).busy.add(more, from, now);
    }
    const still = report.last === true ? nothing : source.inFlight;
    for (const key of new Set([...(counted?.inFlight.keys() ?? []), ...still.keys()])) {
      const sums = this.#functions.get(key);
      if (sums !== undefined) this.#change(sums, (still.get(key) ?? 0) - (counted?.inFlight.get(key) ?? 0), now);
    }
  }

  /** Stops counting calls of silent processes; drops those silent for too long and returns their names. */
  settle(now: number): readonly string[] {
    for (const source of this.#sources.all()) if (isSilent(source, now)) this.#withdraw(source, now);
    return this.#sources.giveUp(now).map((source) => {
      this.#withdrawn.delete(source.name);
      return source.name;
    });
  }

  /** Undefined for a function that is not followed. */
  of(key: string, now: number): FunctionActivity | undefined {
    const sums = this.#functions.get(key);
    if (sums?.windows === undefined) return sums && neverCalled;
    const { begun, busy } = sums.windows;
    return {
      rate: begun.average(now) * 1_000,
      recentRate: begun.recent(now) * 1_000,
      busy: busy.average(now),
      recentBusy: busy.recent(now),
      inFlight: sums.inFlight,
      lastCallAt: sums.lastCallAt,
    };
  }

  /** Whether all processes that should report do, and since when. */
  coverage(now: number): ReportCoverage {
    return this.#sources.coverage(now);
  }

  #withdraw(source: ReportingSource, now: number): void {
    if (this.#withdrawn.has(source.name)) return;
    this.#withdrawn.add(source.name);
    for (const [key, inFlight] of source.inFlight) {
      const sums = this.#functions.get(key);
      if (sums !== undefined) this.#change(sums, -inFlight, now);
    }
  }

  #windowsOf(sums: Sums, now: number): NonNullable<Sums["windows"]> {
    const shape = { window: this.#window, lag: reportPeriod };
    sums.windows ??= { begun: new LoadWindow(shape, now), busy: new LoadWindow(shape, now) };
    return sums.windows;
  }

  #change(sums: Sums, more: number, now: number): void {
    if (more === 0) return;
    // Calls counted so far were in flight until now.
    if (sums.inFlight > 0) sums.lastCallAt = now;
    sums.inFlight = Math.max(0, sums.inFlight + more);
    this.#windowsOf(sums, now).busy.set(sums.inFlight, now);
  }
}

/** Milliseconds of the time since the report before that this one speaks of: lost reports have a share in it. */
function timeOf({ number }: ActivityReport, before: ReportingSource | undefined, now: number): number {
  return before === undefined ? 0 : (now - before.receivedAt) / Math.max(1, number - before.number);
}

const nothing: ReadonlyMap<string, number> = new Map();
