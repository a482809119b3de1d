/** What one process saw of one function since its last report. */
export interface ActivityDelta {
  /** `<name>.<namespace>`. */
  readonly function: string;
  /** Calls that ended. */
  readonly finished: number;
  /** Calls under way now. */
  readonly inFlight: number;
}

/** Spreads what gateways and workers see; best effort, nothing is kept. */
export interface Activity {
  publish(source: string, deltas: readonly ActivityDelta[]): void;
  /** The returned function ends it. A process hears its own reports too. */
  subscribe(heard: (source: string, deltas: readonly ActivityDelta[]) => void): () => void;
}
