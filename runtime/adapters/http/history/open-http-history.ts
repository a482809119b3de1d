import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import type { LinePlace } from "../../../core/ports/kept-logs.ts";
import type { HistoryClientOptions } from "./history-client.ts";
import { HttpCallHistory } from "./http-call-history.ts";
import { HttpKeptLogs } from "./http-kept-logs.ts";

/** How the history is asked. */
export interface HttpHistoryOptions extends HistoryClientOptions {
  /** Whether it keeps log lines. */
  readonly keptLogs: boolean;
}

/** The history as a gateway asks it, and its own metrics. */
export function openHttpHistory({ keptLogs, ...options }: HttpHistoryOptions) {
  const reads = new HttpCallHistory(options);
  const lines = keptLogs ? new HttpKeptLogs(options) : undefined;
  return {
    parts: {
      reads,
      progress: () => reads.progress(),
      remove: (id: string) => reads.remove(id),
      logs: lines && {
        reads: lines,
        remove: (ref: FunctionRef, places: readonly LinePlace[]) => lines.remove(ref, places),
      },
    },
    metrics: () => reads.metrics(),
    close: async (): Promise<void> => {
      await Promise.all([reads.close(), lines?.close()]);
    },
  };
}
