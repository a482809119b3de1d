import type { HistoryReports } from "../../ports/history-reports.ts";
import type { SyncCallRing } from "./sync-call-ring.ts";

const period = 1_000;
/** Calls of one message. */
const perMessage = 250;

/** Publishes once a second the calls that a ring holds. The returned function publishes the last ones and stops. */
export function reportSyncCalls(reports: Pick<HistoryReports, "publish">, ring: SyncCallRing): () => void {
  const publish = (): void => {
    const calls = ring.take();
    for (let from = 0; from < calls.length; from += perMessage)
      reports.publish({ kind: "sync", calls: calls.slice(from, from + perMessage) });
  };
  const timer = setInterval(publish, period);
  return () => {
    clearInterval(timer);
    publish();
  };
}
