import type { ActivityReport } from "../ports/activity.ts";

/** One process that reports, as of its last report. */
export interface ReportingSource {
  readonly name: string;
  readonly kind: "gateway" | "queue-worker";
  /** Since when no report of it was lost; -Infinity if all since its first were received. */
  readonly since: number;
  readonly receivedAt: number;
  readonly number: number;
  /** Calls in flight by function. */
  readonly inFlight: ReadonlyMap<string, number>;
}

/** Whether reports are complete: all have been received since `since`, or a process is missing, and which. */
export type ReportCoverage =
  | { readonly kind: "complete"; readonly since: number }
  | { readonly kind: "missing"; readonly message: string };

/** Reports come once a second; a process without one for this many milliseconds is silent. */
const silentAfter = 3_500;

/**
 * Knows which processes should report: all that reported and did not shut down cleanly. A silent one counts as missing
 * for `silenceTimeout` milliseconds; then it is dropped, and completeness starts anew. Times are monotonic
 * milliseconds.
 */
export class ReportingSources {
  readonly #sources = new Map<string, ReportingSource>();
  readonly #silenceTimeout: number;
  /** Before this time, a process may have been busy without being seen. */
  #since: number;

  constructor(silenceTimeout: number, now: number) {
    this.#silenceTimeout = silenceTimeout;
    this.#since = now;
  }

  /** Records a report. `before` is the previous one of the same process, if there is any. */
  addReport(
    report: ActivityReport,
    now: number,
  ): { readonly source: ReportingSource; readonly before: ReportingSource | undefined } {
    const before = this.#sources.get(report.source);
    const nothingMissed = report.number === (before?.number ?? 0) + 1;
    const busy = report.deltas.filter(({ inFlight }) => inFlight > 0);
    const source: ReportingSource = {
      name: report.source,
      kind: report.worker === undefined ? "gateway" : "queue-worker",
      since: nothingMissed ? (before?.since ?? Number.NEGATIVE_INFINITY) : now,
      receivedAt: now,
      number: report.number,
      inFlight: new Map(busy.map((delta) => [delta.function, delta.inFlight])),
    };
    if (report.last === true) this.#sources.delete(report.source);
    else this.#sources.set(report.source, source);
    return { source, before };
  }

  /** Drops and returns those that were silent for too long, unless no gateway reports at all. */
  giveUp(now: number): readonly ReportingSource[] {
    const all = [...this.#sources.values()];
    const dead = all.filter(({ receivedAt: heardAt }) => now - heardAt > this.#silenceTimeout);
    if (dead.length === 0 || !all.some((source) => source.kind === "gateway" && !isSilent(source, now))) return [];
    for (const { name } of dead) this.#sources.delete(name);
    this.#since = now;
    return dead;
  }

  /** Whether all processes report now, and since when. */
  coverage(now: number): ReportCoverage {
    let since = this.#since;
    let gateways = 0;
    for (const source of this.#sources.values()) {
      if (isSilent(source, now)) {
        const seconds = Math.floor((now - source.receivedAt) / 1_000);
        return { kind: "missing", message: `${source.name} has not reported for ${seconds} s` };
      }
      if (source.kind === "gateway") gateways += 1;
      since = Math.max(since, source.since);
    }
    return gateways > 0 ? { kind: "complete", since } : { kind: "missing", message: "no gateway reports" };
  }

  all(): Iterable<ReportingSource> {
    return this.#sources.values();
  }
}

/** Whether the process has not reported for so long that its calls may have gone elsewhere. */
export function isSilent({ receivedAt: heardAt }: ReportingSource, now: number): boolean {
  return now - heardAt > silentAfter;
}
