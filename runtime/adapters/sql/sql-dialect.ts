import type { SqlText } from "./sql-text.ts";

/** A row as a driver returns it, by the names of its columns. */
export type SqlRecord = Readonly<Record<string, unknown>>;

/** What databases write differently. */
export interface SqlDialect {
  /** Written after a table's name: the only index that the statement may use for it. */
  usingIndex(index: SqlText): SqlText;
  /** Whether the database cannot be told an index: only the order of all columns of one leaves it no choice. */
  readonly choosesIndexes: boolean;
  /** Whether a column has one of the values; they are one value of the statement, however many they are. */
  isOneOf(column: SqlText, values: readonly number[] | readonly string[]): SqlText;
  /** Whether the text of a line has this part. It may leave in more, as case may not matter, and never less. */
  contains(column: SqlText, part: string): SqlText;
  /** Conditions on call `c` that spare partitions without calls of this time, Unix milliseconds, both inclusive. */
  partitionsOf(since: number, until: number): readonly SqlText[];
  /** Tables of kept lines. */
  readonly lineTables: { readonly function: SqlText; readonly replica: SqlText; readonly line: SqlText };
}

/** One unchanging state of a database. */
export interface SqlSnapshot {
  readonly dialect: SqlDialect;
  all(statement: SqlText): Promise<readonly SqlRecord[]>;
}

/** Reads a database. */
export interface SqlReader {
  /** Calls `body` with the state of now, and ends the transaction when it resolves or rejects. */
  read<T>(body: (snapshot: SqlSnapshot) => Promise<T>): Promise<T>;
}
