import { Counter, type Registry } from "prom-client";

import { reportSyncCalls } from "../core/history/reports/report-sync-calls.ts";
import { RollupReporter, type RollupView } from "../core/history/reports/rollup-reporter.ts";
import { SyncCallRing } from "../core/history/reports/sync-call-ring.ts";
import type { HistoryReports } from "../core/ports/history-reports.ts";
import type { FunctionTable } from "../core/replicas/function-table.ts";
import { InvocationCounts } from "../process/metrics/invocation-counts.ts";
import { keepSyncCalls, type KeepCall } from "./calls/sync/keep-sync-calls.ts";
import type { GatewaySettings } from "./settings.ts";

export interface CallReportsParts {
  /** Undefined = there is no history. */
  readonly reports: HistoryReports | undefined;
  readonly settings: Pick<GatewaySettings, "historySyncSample">;
  /** Name of the process, never used by another one. */
  readonly source: string;
  readonly table: FunctionTable;
  readonly registry: Registry;
}

/** What a gateway counts of its calls, and reports for the history. */
export interface CallReports {
  readonly counts: InvocationCounts;
  /** Undefined = no call is kept. */
  readonly keep?: KeepCall;
  /** Reports from now on; the returned function reports what is left and ends that. */
  open(): () => void;
}

export function buildCallReports({ reports, settings, source, table, registry }: CallReportsParts): CallReports {
  if (reports === undefined) return { counts: new InvocationCounts(), open: () => () => {} };
  const ring = new SyncCallRing();
  const rollups = new RollupReporter({ reports, source, reportsPresence: true });
  const counts = new InvocationCounts((key) => rollups.tallyOf(key));
  table.onRemoved(({ key }) => rollups.forget(key));
  registerSkipped(registry, ring);
  return {
    counts,
    keep: keepSyncCalls(ring, settings.historySyncSample),
    open: () => {
      rollups.open(() => viewsOf(table, counts));
      const endCalls = reportSyncCalls(reports, ring);
      return () => {
        endCalls();
        rollups.close();
      };
    },
  };
}

function* viewsOf(table: FunctionTable, counts: InvocationCounts): Iterable<RollupView> {
  for (const { ref, key, replicas } of table.entries())
    yield { ref, inFlight: counts.find(key)?.inFlight ?? 0, replicas: replicas.length };
}

function registerSkipped(registry: Registry, ring: SyncCallRing): void {
  const skipped: Counter = new Counter({
    name: "gateway_history_skipped_total",
    help: "Synchronous calls that the history would have kept, but for which there was no room",
    registers: [registry],
    collect: () => {
      skipped.reset();
      skipped.inc(ring.skipped);
    },
  });
}
