import type { QueueDeclaration } from "./queue-catalog.ts";

/** A record of a call that has not ended, while its queue does not hold the call. */
export interface UnstoredCall {
  readonly id: string;
  readonly queue: string;
  /** Of the record when the queue was looked through. */
  readonly revision: number;
}

/**
 * Finds calls that no queue-worker will ever get: their gateway was lost between record and call, or a power cut took
 * the call. A call whose dead letter exists is none of them.
 */
export interface UnstoredCalls {
  /**
   * Those found since the last time. Looks on for as long as one check has time; the next continues. Rejects with
   * `queue_unavailable`.
   */
  find(queues: readonly QueueDeclaration[]): Promise<readonly UnstoredCall[]>;
  /** Begins again: the broker was restarted, and may have lost calls. */
  restart(): void;
}
