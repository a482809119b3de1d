import type { LogRecord } from "../../api/schemas/log-record.ts";
import type { FunctionRef } from "../functions/function-ref.ts";

/** How far the log of a replica was kept: up to the line of this number of those with this time, counted from 0. */
export interface LogPosition {
  /** Unix milliseconds. */
  readonly at: number;
  /** Nanoseconds within the millisecond. */
  readonly nanos: number;
  readonly number: number;
}

/** A line as it was read from a log; a tag is still in its text. */
export interface FollowedLine extends Omit<LogRecord, "call"> {
  /** Of the lines of its replica with the same time, counted from 0. */
  readonly number: number;
}

/** A place in the lines of a function: time in Unix milliseconds, nanoseconds within it, order of writing. */
export type LinePlace = readonly [at: number, nanos: number, order: number];

/** A line that is stored; the call that its tag names is apart. */
export interface KeptLine extends LogRecord {
  readonly place: LinePlace;
}

/** Which lines of a function; an absent member narrows nothing. All values are safe in JSON. */
export interface KeptLineQuery extends FunctionRef {
  /** One replica only. */
  readonly instance?: string;
  /** Unix milliseconds, inclusive. */
  readonly since?: number;
  /** Unix milliseconds, exclusive. */
  readonly until?: number;
  /** Only lines with this text, in a tag, too. */
  readonly containing?: string;
  /** Only lines after this place. */
  readonly after?: LinePlace;
  /** The last lines in place of the first. */
  readonly newest?: boolean;
  readonly limit: number;
}

export interface KeptLinePage {
  /** In the order of their times. */
  readonly lines: readonly KeptLine[];
  /** Where the next page begins; absent on the last one, and for the newest lines. A page may hold fewer than its limit. */
  readonly next?: LinePlace;
}

/** Reads kept lines. Every read ends within about a second, or rejects; it never blocks the writer. */
export interface KeptLogs {
  lines(query: KeptLineQuery): Promise<KeptLinePage>;
  /** The replicas of a function of which lines were kept, those that wrote last first, at most 200. */
  lineReplicas(ref: FunctionRef): Promise<readonly string[]>;
}

/** What is kept at most; the oldest lines are removed first. */
export interface KeptLogBounds {
  /** Milliseconds. */
  readonly age: number;
  readonly bytes: number;
  /** Of one function, its texts and what is stored with each line. */
  readonly functionBytes: number;
}

/** Writes kept lines; there is one writer at a time. */
export interface KeptLogsWriter {
  /** How far the log of each replica of a function was kept. */
  positions(ref: FunctionRef): Promise<ReadonlyMap<string, LogPosition>>;
  /** Stores lines, those of a replica in their order; those up to its position are left out. All of them, or none. */
  append(lines: readonly FollowedLine[]): Promise<void>;
  remove(ref: FunctionRef, places: readonly LinePlace[]): Promise<void>;
  /** Namespaces of which something is kept. */
  namespaces(): Promise<readonly string[]>;
  removeNamespace(namespace: string): Promise<void>;
  /** Removes at most some thousand lines beyond the bounds; true if there is more to remove. */
  trim(bounds: KeptLogBounds, now: number): Promise<boolean>;
  /** What is stored. */
  size(): Promise<{ readonly lines: number; readonly bytes: number }>;
}
