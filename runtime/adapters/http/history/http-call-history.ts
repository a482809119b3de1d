import type {
  CallHistory,
  CallListQuery,
  CallPage,
  HistoryGap,
  HistoryProgress,
  RollupQuery,
} from "../../../core/ports/call-history.ts";
import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import type { HistoryCall } from "../../../core/history/history-row.ts";
import type { RollupSeries } from "../../../core/history/rollups/rollup.ts";
import { HistoryClient, type HistoryClientOptions } from "./history-client.ts";

/**
 * The history of calls as the history process replies. Every method rejects with `history_unavailable` when that
 * process is away, takes longer than its time, or has too many requests already.
 */
export class HttpCallHistory implements CallHistory {
  readonly #client: HistoryClient;
  #progress: Promise<HistoryProgress> | undefined;

  constructor(options: HistoryClientOptions) {
    this.#client = new HistoryClient(options);
  }

  list(query: CallListQuery): Promise<CallPage> {
    return this.#client.ask<CallPage>("list", query);
  }

  get(id: string): Promise<HistoryCall | undefined> {
    return this.#client.ask<HistoryCall | undefined>("get", id);
  }

  replaysOf(id: string): Promise<readonly string[]> {
    return this.#client.ask<readonly string[]>("replays", id);
  }

  functions(): Promise<readonly FunctionRef[]> {
    return this.#client.ask<readonly FunctionRef[]>("functions");
  }

  gaps(): Promise<readonly HistoryGap[]> {
    return this.#client.ask<readonly HistoryGap[]>("gaps");
  }

  rollups(query: RollupQuery): Promise<readonly RollupSeries[]> {
    return this.#client.ask<readonly RollupSeries[]>("rollups", query);
  }

  /** Removes a call for good; false if it is open. */
  remove(id: string): Promise<boolean> {
    return this.#client.ask<boolean>("remove", id);
  }

  /** How far the history is behind the records. Those who ask at the same time share one request. */
  progress(): Promise<HistoryProgress> {
    this.#progress ??= this.#client.progress<HistoryProgress>().finally(() => {
      this.#progress = undefined;
    });
    return this.#progress;
  }

  /** The metrics of the process, as Prometheus reads them. */
  metrics(): Promise<string> {
    return this.#client.metrics();
  }

  /** Aborts requests in flight. */
  close(): Promise<void> {
    return this.#client.close();
  }
}
