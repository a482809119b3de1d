import { RollupReporter, type RollupView } from "../core/history/reports/rollup-reporter.ts";
import type { HistoryReports } from "../core/ports/history-reports.ts";
import type { QueueStates } from "../core/ports/queue-states.ts";
import type { FunctionTable } from "../core/replicas/function-table.ts";
import { InvocationCounts } from "../process/metrics/invocation-counts.ts";

export interface RunReportsParts {
  /** Undefined = there is no history. */
  readonly reports: HistoryReports | undefined;
  /** Name of the process, never used by another one. */
  readonly source: string;
  readonly queue: string;
  readonly states: Pick<QueueStates, "depths">;
  readonly table: FunctionTable;
  /** Whether runs are counted here, and not by the gateway. */
  readonly counting: boolean;
}

/** What a queue-worker counts of its runs, and reports for the history, with what is in its queue. */
export interface RunReports {
  /** Undefined where the gateway counts the runs. */
  readonly counts: InvocationCounts | undefined;
  /** Reports from now on; the returned function reports what is left and ends that. */
  open(): () => void;
}

export function buildRunReports({ reports, source, queue, states, table, counting }: RunReportsParts): RunReports {
  if (reports === undefined) return { counts: counting ? new InvocationCounts() : undefined, open: () => () => {} };
  const queued = () =>
    states.depths(queue).then(
      ({ byFunction }) => byFunction,
      () => undefined,
    );
  const rollups = new RollupReporter({ reports, source, queued });
  const counts = counting ? new InvocationCounts((key) => rollups.tallyOf(key)) : undefined;
  table.onRemoved(({ key }) => rollups.forget(key));
  return {
    counts,
    open: () => {
      rollups.open(() => viewsOf(table, counts));
      return () => rollups.close();
    },
  };
}

/** The gateway reports how many replicas there are; here they belong to a point that there is anyway. */
function* viewsOf(table: FunctionTable, counts: InvocationCounts | undefined): Iterable<RollupView> {
  for (const { ref, key, replicas } of table.entries()) {
    const inFlight = counts === undefined ? undefined : (counts.find(key)?.inFlight ?? 0);
    yield { ref, inFlight, knownReplicas: replicas.length };
  }
}
