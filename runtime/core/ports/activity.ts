/** What one process saw of one function since its last report. */
export interface ActivityDelta {
  /** `<name>.<namespace>`. */
  readonly function: string;
  /** Calls that ended. */
  readonly finished: number;
  /** Of them, those with a status of 500 or more; absent: none. */
  readonly failed?: number | undefined;
  /** Calls in flight now. */
  readonly inFlight: number;
  /** Milliseconds that calls were in flight since the last report, added up; absent: not measured. */
  readonly busy?: number | undefined;
}

/** What a queue-worker reports of itself. */
export interface WorkerReport {
  readonly queue: string;
  /** Calls it can run at once; 0 while another worker holds a strict queue, and in the last report. */
  readonly slots: number;
  /** Calls it runs now. */
  readonly running: number;
}

/** What one process reports once a second, whether anything changed or not. */
export interface ActivityReport {
  /** Name of the process, never used by another one. */
  readonly source: string;
  /** Number of the report, counted from 1; lost ones count, too. */
  readonly number: number;
  /** Every function with calls in flight, and those with calls that ended since the last report. */
  readonly deltas: readonly ActivityDelta[];
  /** Of a queue-worker. */
  readonly worker?: WorkerReport | undefined;
  /** True in the last report of a process that shuts down cleanly. */
  readonly last?: boolean | undefined;
}

/** Receives the reports of all processes. */
export type ActivityListener = (report: ActivityReport) => void;

/** Broadcasts the reports of gateways and queue-workers; best effort, nothing is stored. */
export interface Activity {
  publish(report: ActivityReport): void;
  /** A process receives its own reports, too, but not those of source `except`. The returned function unsubscribes. */
  subscribe(listener: ActivityListener, except?: string): () => void;
}
