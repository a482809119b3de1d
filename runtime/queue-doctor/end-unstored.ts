import { notStoredEntry } from "../core/calls/call-transitions.ts";
import { changeRecord } from "../core/calls/change-record.ts";
import type { CallLedger } from "../core/ports/call-ledger.ts";
import type { QueueDeclaration } from "../core/ports/queue-catalog.ts";
import type { UnstoredCalls } from "../core/ports/unstored-calls.ts";
import type { Log } from "../process/log.ts";
import type { DoctorMetrics } from "./doctor-metrics.ts";

export interface EndUnstoredParts {
  readonly unstored: Pick<UnstoredCalls, "find">;
  readonly ledger: Pick<CallLedger, "read" | "update" | "now">;
  readonly queues: readonly QueueDeclaration[];
  readonly metrics: Pick<DoctorMetrics, "unstored">;
  readonly log: Log;
}

/** Calls named in one line of the log. */
const named = 20;

/**
 * Ends calls that their queues do not hold, unless their record was written since: it changes with whatever becomes of a
 * call. Rejects with `queue_unavailable`.
 */
export async function endUnstored({ unstored, ledger, queues, metrics, log }: EndUnstoredParts): Promise<void> {
  const found = await unstored.find(queues);
  const ended: string[] = [];
  for (const { id, queue, revision } of found) {
    const change = await changeRecord(
      ledger,
      id,
      (record) =>
        record === undefined || record.revision !== revision
          ? { as: "left" }
          : { as: "ended", write: notStoredEntry(record.entry, ledger.now()) },
      { until: performance.now() },
    );
    if (change.kind !== "written") continue;
    ended.push(id);
    metrics.unstored.inc({ queue_name: queue });
  }
  if (ended.length === 0) return;
  log.warn(
    { calls: ended.length, ids: ended.slice(0, named) },
    "calls were ended: there are records of them, but their queues do not hold them",
  );
}
