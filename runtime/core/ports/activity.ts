/** What one process saw of one function since its last report. */
export interface ActivityDelta {
  /** `<name>.<namespace>`. */
  readonly function: string;
  /** Calls that ended. */
  readonly finished: number;
  /** Calls under way now. */
  readonly inFlight: number;
}

/** What a queue-worker says of itself. */
export interface WorkerReport {
  readonly queue: string;
  /** Calls it can run at once; 0 while another has the turn of a strict queue, and at its end. */
  readonly slots: number;
  /** Calls it runs now. */
  readonly running: number;
}

/** What one process says once a second, whether anything changed or not. */
export interface ActivityReport {
  /** Names the process; no other one ever has the same name. */
  readonly source: string;
  /** Counts its reports from 1, those too that were lost on their way. */
  readonly number: number;
  /** Every function with calls under way, and those with calls that ended since the last report. */
  readonly deltas: readonly ActivityDelta[];
  /** Of a queue-worker. */
  readonly worker?: WorkerReport | undefined;
  /** True in the last report of a process that ends in peace. */
  readonly last?: boolean | undefined;
}

/** Hears the reports of all processes. */
export type ActivityListener = (report: ActivityReport) => void;

/** Spreads what gateways and queue-workers see; best effort, nothing is kept. */
export interface Activity {
  publish(report: ActivityReport): void;
  /** The returned function ends it. A process hears its own reports too, but not those of the source `except`. */
  subscribe(heard: ActivityListener, except?: string): () => void;
}
