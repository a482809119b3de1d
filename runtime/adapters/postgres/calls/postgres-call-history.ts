import { SqlCallHistory } from "../../sql/calls/sql-call-history.ts";
import type { PostgresDatabase } from "../database/postgres-database.ts";
import { PostgresReader } from "../database/postgres-reader.ts";

/** Reads the history in PostgreSQL, in any process and several reads at a time. */
export class PostgresCallHistory extends SqlCallHistory {
  /** `maxEntries`: index entries that a page reads at most. */
  constructor(database: PostgresDatabase, options: { readonly maxEntries?: number } = {}) {
    super(new PostgresReader(database), options);
  }
}
