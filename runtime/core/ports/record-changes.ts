import type { CallChange, StreamPosition } from "./call-history.ts";

/** Changes of call records that were read together, or the news that there are none. */
export interface RecordBatch {
  /** In their order; of several changes of one call only the last. */
  readonly changes: readonly CallChange[];
  /** What has been read, this batch included. */
  readonly position: StreamPosition;
  /** Unix milliseconds of the broker's clock: nothing that was removed later is missing in this batch. */
  readonly readAt: number;
  /** Changes since the batch before that no longer existed: replaced by later ones of their calls, or expired. */
  readonly removed: number;
  /** Values that are no call records. */
  readonly unreadable: number;
  /** Whether nothing was left to read. */
  readonly isLevel: boolean;
  /** Whether reading began, or began again, with this batch. */
  readonly isFirst: boolean;
  /** No record changed between the position before and this time; unknown if absent. Unix milliseconds. */
  readonly quietUntil?: number | undefined;
}

/** Reads what happens to the records of calls. */
export interface RecordChanges {
  /** Unix milliseconds of the broker's clock. */
  now(): number;
  /**
   * The changes after a position, or all that are there, until `signal` aborts.
   *
   * - A batch holds at most 1 000 changes, or those of 200 ms; without changes an empty one comes every few seconds.
   * - It waits while the records cannot be read, and goes on after the last batch that was taken.
   * - Records of another stream than that of the position are read from the beginning.
   */
  follow(after: StreamPosition | undefined, signal: AbortSignal): AsyncIterable<RecordBatch>;
  /** Those of `ids` whose calls have no record. */
  withoutRecord(ids: readonly string[]): Promise<readonly string[]>;
}
