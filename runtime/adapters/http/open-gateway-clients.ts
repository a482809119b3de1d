import type { FunctionRef } from "../../core/functions/function-ref.ts";
import type { LinePlace } from "../../core/ports/kept-logs.ts";
import type { HistoryClientOptions } from "./history/history-client.ts";
import { HttpCallHistory } from "./history/http-call-history.ts";
import { HttpKeptLogs } from "./history/http-kept-logs.ts";
import { HttpUpstream } from "./upstream/http-upstream.ts";

/** How the history is asked. */
export interface HttpHistoryOptions extends HistoryClientOptions {
  /** Whether it keeps log lines. */
  readonly keptLogs: boolean;
}

/** What a gateway in its own process asks functions and the history with; there is no history if `asked` is undefined. */
export function openGatewayClients(asked: HttpHistoryOptions | undefined) {
  const upstream = new HttpUpstream();
  const history = asked && openHttpHistory(asked);
  return {
    upstream,
    history: history?.parts,
    close: async (): Promise<void> => {
      await Promise.all([upstream.close(), history?.close()]);
    },
  };
}

function openHttpHistory({ keptLogs, ...options }: HttpHistoryOptions) {
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
    close: async (): Promise<void> => {
      await Promise.all([reads.close(), lines?.close()]);
    },
  };
}
