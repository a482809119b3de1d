import type { QueueDeclaration } from "./queue-catalog.ts";

/** What calls of one queue, or the callbacks of all, lie in, as it is now. */
export interface WorkState {
  /** Undefined = the callbacks. */
  readonly queue: string | undefined;
  /** Entries that are neither to be offered nor on loan: nobody would ever get them. */
  readonly orphans: number;
  /** Entries on loan, or put back with a delay. */
  readonly unanswered: number;
  /** Requests of workers that wait for an entry. */
  readonly waitingWorkers: number;
  /** Grows with each entry that is offered. */
  readonly offers: number;
  /** Milliseconds. */
  readonly ackWait: number;
  /** Whether the workers' access was made under the version of the broker that runs now. */
  readonly current: boolean;
  /** When the oldest entry was stored, Unix milliseconds of the broker's clock; undefined = there is none. */
  readonly oldestAt: number | undefined;
}

/** A store that is gone, with all that was in there. */
export interface MissingStore {
  /** As the broker calls it; what `provision` is told to make it anew. */
  readonly name: string;
  /** If it held the calls of a queue: their number, by their records. */
  readonly lostCalls: number | undefined;
}

/** Makes and mends what queues lie in; only the doctor holds it. Rejects with `queue_unavailable`. */
export interface QueueStore {
  /**
   * Creates what is missing for these queues, updates what differs, removes nothing. Repeatable. A store of calls or
   * callbacks that was there before is recreated, empty, only if `remake` holds its queue's name, or `callbacks` in
   * capitals as the broker calls it (`CB`).
   */
  provision(queues: readonly QueueDeclaration[], remake?: readonly string[]): Promise<void>;
  /**
   * Updates what differs, and creates no store: one that went away took its calls with it, and an empty one in its place
   * would hide that. Says what is missing.
   */
  maintain(queues: readonly QueueDeclaration[]): Promise<readonly MissingStore[]>;
  /** Looks at the stores of these queues and at that of the callbacks, as far as they are there. */
  look(queues: readonly QueueDeclaration[]): Promise<readonly WorkState[]>;
  /**
   * Of the unanswered entries that one look has time for: how many should have been offered again long ago, by their
   * records. The next look goes on where this one ended.
   */
  countOverdue(queue: string | undefined): Promise<number>;
  /**
   * Makes the workers' access to a store anew: everything in it that is not acknowledged is offered again, once what is
   * on loan was answered or a lease has passed. Nothing is lost, and a crash half-way leaves what the next look mends.
   */
  rebuild(queue: string | undefined, stop: AbortSignal): Promise<void>;
}
