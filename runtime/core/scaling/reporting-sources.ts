import type { ActivityReport } from "../ports/activity.ts";

/** One process that reports, as of its last report. */
export interface ReportingSource {
  readonly name: string;
  readonly kind: "gateway" | "queue-worker";
  /** Since when no report of it was lost; one that was heard from its first report on hid nothing ever. */
  readonly since: number;
  readonly heardAt: number;
  readonly number: number;
  /** Calls under way by function. */
  readonly inFlight: ReadonlyMap<string, number>;
}

/** What is known of all that should report: everything since `since`, or that somebody is missing and who. */
export type Hearing =
  | { readonly kind: "complete"; readonly since: number }
  | { readonly kind: "missing"; readonly message: string };

/** Reports come once a second; who says nothing for so many milliseconds is silent. */
const silentAfter = 3_500;

/**
 * Knows who should report: every process that was heard and did not take its leave. One that is silent is waited for
 * `patience` milliseconds; then it is given up, and all is watched anew. Times are monotonic milliseconds.
 */
export class ReportingSources {
  readonly #sources = new Map<string, ReportingSource>();
  readonly #patience: number;
  /** Before it, somebody may have been busy without being heard. */
  #since: number;

  constructor(patience: number, now: number) {
    this.#patience = patience;
    this.#since = now;
  }

  /** Notes a report. `before` is what the same process said before it, if anything was heard. */
  hear(
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
      heardAt: now,
      number: report.number,
      inFlight: new Map(busy.map((delta) => [delta.function, delta.inFlight])),
    };
    if (report.last === true) this.#sources.delete(report.source);
    else this.#sources.set(report.source, source);
    return { source, before };
  }

  /** Gives up those that were silent for too long, unless no gateway is heard at all, and names them. */
  giveUp(now: number): readonly ReportingSource[] {
    const all = [...this.#sources.values()];
    const dead = all.filter(({ heardAt }) => now - heardAt > this.#patience);
    if (dead.length === 0 || !all.some((source) => source.kind === "gateway" && !isSilent(source, now))) return [];
    for (const { name } of dead) this.#sources.delete(name);
    this.#since = now;
    return dead;
  }

  /** Whether everybody is heard now, and since when. */
  hearing(now: number): Hearing {
    let since = this.#since;
    let gateways = 0;
    for (const source of this.#sources.values()) {
      if (isSilent(source, now)) {
        const seconds = Math.floor((now - source.heardAt) / 1_000);
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
export function isSilent({ heardAt }: ReportingSource, now: number): boolean {
  return now - heardAt > silentAfter;
}
