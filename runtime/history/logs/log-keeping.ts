import type { HistoryReports } from "../../core/ports/history-reports.ts";
import type { KeptLogBounds, KeptLogsWriter } from "../../core/ports/kept-logs.ts";
import type { Log } from "../../process/log.ts";
import type { HistoryMetrics } from "../history-metrics.ts";
import { removeDeleted, type NamespaceFacts } from "../remove-deleted.ts";
import { keepLogs, type LogsToFollow } from "./keep-logs.ts";
import { noteCalls, type CallsListener } from "./note-calls.ts";
import { trimLogs } from "./trim-logs.ts";

export interface LogKeepingParts extends NamespaceFacts {
  /** `called`: which logs are followed depends on which functions are called. */
  readonly followed: LogsToFollow & { readonly called?: CallsListener };
  readonly reports: Pick<HistoryReports, "subscribe">;
  /** `movedAside`: a sentence, if its file was damaged. */
  readonly writer: KeptLogsWriter & { readonly movedAside?: string | undefined };
  readonly logBounds: KeptLogBounds;
  readonly metrics: Pick<HistoryMetrics, "bytes" | "dropped" | "followed">;
  readonly log: Log;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

/** What keeps log lines until a signal aborts, removes old ones, and those of deleted namespaces. */
export function logKeeping(parts: LogKeepingParts): (stop: AbortSignal) => Promise<unknown> {
  const { writer, followed, metrics, log, now = Date.now } = parts;
  const onDrop = (): void => metrics.dropped.inc({ what: "lines" });
  const onFollow = (replicas: number): void => metrics.followed.set(replicas);
  const onSize = (bytes: number): void => metrics.bytes.set({ store: "logs" }, bytes);
  if (writer.movedAside !== undefined) log.warn({ reason: writer.movedAside }, "kept logs begin anew");
  return (stop) => {
    if (followed.called !== undefined) noteCalls(parts.reports, followed.called, stop);
    return Promise.all([
      keepLogs({ ...followed, writer, onDrop, onFollow, log }, stop),
      trimLogs({ writer, bounds: parts.logBounds, onSize, log, now }, stop),
      removeDeleted(
        {
          kept: () => writer.namespaces(),
          remove: (namespace) => writer.removeNamespace(namespace),
          namespaces: parts.namespaces,
          defaultNamespace: parts.defaultNamespace,
          log,
        },
        stop,
      ),
    ]);
  };
}
