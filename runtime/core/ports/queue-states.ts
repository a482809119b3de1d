/**
 * Current content of one queue. Times are Unix milliseconds of the store's clock. The counts may be a moment behind a
 * call that was put or a delivery that was made.
 */
export interface QueueState {
  /** Calls that were not delivered to a worker yet. */
  readonly fresh: number;
  /** Calls that were delivered to a worker and are not settled: they run, or wait for their retry. */
  readonly onLoan: number;
  /** Positions in the store of the first and the last call in the queue; both 0 in an empty queue. */
  readonly first: number;
  readonly last: number;
  /** When these two were stored; undefined in an empty queue. */
  readonly firstAt: number | undefined;
  readonly lastAt: number | undefined;
  /** Position of the last call that was delivered to a worker. */
  readonly delivered: number;
  readonly now: number;
}

/** Calls in one queue by function. */
export interface QueueDepths {
  /** Calls in the queue, including running ones, by `<name>.<namespace>`; functions without any are left out. */
  readonly byFunction: ReadonlyMap<string, number>;
  /** Calls that were ever put into the queue. */
  readonly submitted: number;
}

/** Reads the state of queues without changing them. Rejects with `queue_unavailable`. */
export interface QueueStates {
  /** Undefined when there is no such queue. */
  read(queue: string): Promise<QueueState | undefined>;
  /** The depth that a function is scaled by (contract §5.1); empty when there is no such queue. */
  depths(queue: string): Promise<QueueDepths>;
}
