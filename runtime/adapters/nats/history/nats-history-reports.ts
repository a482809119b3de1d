import type { Msg } from "@nats-io/transport-node";

import type { HistoryReport, HistoryReports, ScalingReport } from "../../../core/ports/history-reports.ts";
import type { AnsweredCall } from "../../../core/history/history-row.ts";
import type { RollupPoint } from "../../../core/history/rollups/rollup.ts";
import type { NatsLink } from "../link/nats-link.ts";

/** Subjects of the reports, by kind. */
export const historySubject = { sync: "history.sync", rollup: "history.rollup", scaling: "history.scaling" } as const;

/** Reports on NATS core subjects; nothing is stored. */
export class NatsHistoryReports implements HistoryReports {
  readonly #link: NatsLink;

  constructor(link: NatsLink) {
    this.#link = link;
  }

  publish(report: HistoryReport): void {
    // A late report is of no use.
    if (this.#link.downFor() > 0) return;
    this.#link.publish(historySubject[report.kind], JSON.stringify(contentOf(report)));
  }

  subscribe(listener: (report: HistoryReport) => void): () => void {
    const on = (subject: string, read: (message: Msg) => HistoryReport): (() => void) =>
      this.#link.subscribe(subject, (message) => {
        let report: HistoryReport;
        try {
          report = read(message);
        } catch {
          // An unreadable report counts as lost.
          return;
        }
        listener(report);
      });
    const ends = [
      on(historySubject.sync, (message) => ({ kind: "sync", calls: listIn<AnsweredCall>(message, isSyncCall) })),
      on(historySubject.rollup, (message) => ({ kind: "rollup", points: listIn<RollupPoint>(message, isPoint) })),
      on(historySubject.scaling, (message) => ({ kind: "scaling", scaling: scalingIn(message) })),
    ];
    return () => {
      for (const end of ends) end();
    };
  }
}

function contentOf(report: HistoryReport): unknown {
  switch (report.kind) {
    case "sync":
      return report.calls;
    case "rollup":
      return report.points;
    case "scaling":
      return report.scaling;
    default:
      return report satisfies never;
  }
}

/** The members of a list that have what their rows need; others are left out. */
function listIn<T>(message: Msg, isWhole: (item: Partial<T>) => boolean): readonly T[] {
  const items: unknown = message.json();
  if (!Array.isArray(items)) throw new TypeError("expected a list");
  return items.filter((item): item is T => isFunctionItem(item) && isWhole(item as Partial<T>));
}

function scalingIn(message: Msg): ScalingReport {
  const scaling = message.json<ScalingReport>();
  const { at, from, to } = scaling;
  if (!isFunctionItem(scaling) || ![at, from, to].every(Number.isFinite)) throw new TypeError("expected a scaling");
  return scaling;
}

function isFunctionItem(item: unknown): boolean {
  if (typeof item !== "object" || item === null) return false;
  const { name, namespace } = item as { readonly name?: unknown; readonly namespace?: unknown };
  return typeof name === "string" && typeof namespace === "string";
}

function isSyncCall({ id, method, status, startedAt, duration }: Partial<AnsweredCall>): boolean {
  return [id, method].every((text) => typeof text === "string") && [status, startedAt, duration].every(Number.isFinite);
}

function isPoint({ source, at }: Partial<RollupPoint>): boolean {
  return typeof source === "string" && Number.isFinite(at);
}
