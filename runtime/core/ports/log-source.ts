import type { LogRecord } from "../../api/schemas/log-record.ts";
import type { FunctionRef } from "../functions/function-ref.ts";

export interface LogQuery extends FunctionRef {
  /** One replica only. */
  readonly instance: string | undefined;
  /** Most records per replica from before now; undefined = all. */
  readonly tail: number | undefined;
  /** Unix milliseconds; nothing older. */
  readonly since: number | undefined;
  /** Go on with what is written from now on, by new replicas too, until `signal` aborts. */
  readonly follow: boolean;
}

/** Reads what functions wrote: what is kept of replicas that ended, oldest first; then the backlog of those that run, in the order of time. */
export interface LogSource {
  read(query: LogQuery, signal: AbortSignal): AsyncIterable<LogRecord>;
}
