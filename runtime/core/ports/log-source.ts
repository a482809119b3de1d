import type { LogRecord } from "../../api/schemas/log-record.ts";
import type { FunctionRef } from "../functions/function-ref.ts";

export interface LogQuery extends FunctionRef {
  /** One replica only. */
  readonly instance: string | undefined;
  /** Maximum records per replica from before now; undefined = all. */
  readonly tail: number | undefined;
  /** Unix milliseconds; older records are left out. */
  readonly since: number | undefined;
  /** Continue with new records, also of new replicas, until `signal` aborts. */
  readonly follow: boolean;
}

/**
 * Reads the output of functions: first what is kept of ended replicas, oldest first, then the backlog of running ones
 * in order of time.
 */
export interface LogSource {
  read(query: LogQuery, signal: AbortSignal): AsyncIterable<LogRecord>;
}
