import type { FunctionRef } from "../../core/functions/function-ref.ts";
import type { HistoryReport, HistoryReports } from "../../core/ports/history-reports.ts";

/** Is told of functions that were called at a time, Unix milliseconds. */
export type CallsListener = (ref: FunctionRef, at: number) => void;

/** Tells which functions are called, by the reports of who calls them, until `stop` aborts. */
export function noteCalls(reports: Pick<HistoryReports, "subscribe">, called: CallsListener, stop: AbortSignal): void {
  if (stop.aborted) return;
  const unsubscribe = reports.subscribe((report) => tellCalls(report, called));
  stop.addEventListener("abort", unsubscribe, { once: true });
}

function tellCalls(report: HistoryReport, called: CallsListener): void {
  if (report.kind !== "rollup") return;
  for (const { namespace, name, at, calls = [], inFlight = 0 } of report.points)
    if (inFlight > 0 || calls.some((count) => count > 0)) called({ namespace, name }, at);
}
