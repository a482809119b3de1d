import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import type { KeptLinePage, KeptLineQuery, KeptLogs, LinePlace } from "../../../core/ports/kept-logs.ts";
import { HistoryClient, type HistoryClientOptions } from "./history-client.ts";

/** Kept logs as the history process replies; every method rejects with `history_unavailable`, as those of calls do. */
export class HttpKeptLogs implements KeptLogs {
  readonly #client: HistoryClient;

  constructor(options: HistoryClientOptions) {
    this.#client = new HistoryClient(options);
  }

  lines(query: KeptLineQuery): Promise<KeptLinePage> {
    return this.#client.ask<KeptLinePage>("lines", query);
  }

  lineReplicas({ namespace, name }: FunctionRef): Promise<readonly string[]> {
    return this.#client.ask<readonly string[]>("line-replicas", { namespace, name });
  }

  /** Removes lines of a function for good. */
  async remove(ref: FunctionRef, places: readonly LinePlace[]): Promise<void> {
    await this.#client.ask("remove-lines", { ref, places });
  }

  /** Aborts requests in flight. */
  close(): Promise<void> {
    return this.#client.close();
  }
}
