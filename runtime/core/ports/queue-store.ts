import type { QueueDeclaration } from "./queue-catalog.ts";

/** Current state of the store that holds the calls of one queue, or the callbacks of all. */
export interface WorkState {
  /** Undefined = the callbacks. */
  readonly queue: string | undefined;
  /** Entries that are neither deliverable nor leased: no worker would ever get them. */
  readonly orphans: number;
  /** Entries that are leased, or requeued with a delay. */
  readonly unanswered: number;
  /** Pending requests of workers for an entry. */
  readonly waitingWorkers: number;
  /** Grows with each delivery. */
  readonly offers: number;
  /** Milliseconds. */
  readonly ackWait: number;
  /** Whether the workers' consumer was created by the version of the broker that runs now. */
  readonly current: boolean;
  /** When the oldest entry was stored, Unix milliseconds of the broker's clock; undefined = there is none. */
  readonly oldestAt: number | undefined;
}

/** A store that is gone, with all its content. */
export interface MissingStore {
  /** The queue's name, or the broker's name of another store; `provision` takes it in `remake`. */
  readonly name: string;
  /** The number of its calls by their records, if it held the calls of a queue. */
  readonly lostCalls: number | undefined;
}

/** Provisions and repairs the stores of queues; for the queue-doctor only. Rejects with `queue_unavailable`. */
export interface QueueStore {
  /**
   * Creates what is missing for these queues, updates what differs, removes nothing. Idempotent. A store of calls or
   * callbacks that existed before is recreated, empty, only if `remake` holds the name of its queue, or `CB` for the
   * callbacks, as the broker calls them.
   */
  provision(queues: readonly QueueDeclaration[], remake?: readonly string[]): Promise<void>;
  /**
   * Updates what differs, but creates no store: a lost one took its calls with it, and an empty one in its place would
   * hide that. Resolves with what is missing.
   */
  maintain(queues: readonly QueueDeclaration[]): Promise<readonly MissingStore[]>;
  /** State of the stores of these queues and of that of the callbacks, as far as they exist. */
  look(queues: readonly QueueDeclaration[]): Promise<readonly WorkState[]>;
  /**
   * Number of unacknowledged entries that should have been redelivered long ago, by their records. Checks as many
   * entries as one call has time for; the next call continues where this one ended.
   */
  countOverdue(queue: string | undefined): Promise<number>;
  /**
   * Rebuilds the workers' consumer of a store: everything in it that is not acknowledged is delivered again, once what
   * is leased was settled or a lease has passed. Nothing is lost, and the next look repairs what a crash half-way
   * leaves.
   */
  rebuild(queue: string | undefined, stop: AbortSignal): Promise<void>;
}
