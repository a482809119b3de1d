import { SqlKeptLogs } from "../../sql/logs/sql-kept-logs.ts";
import type { PostgresDatabase } from "../database/postgres-database.ts";
import { PostgresReader } from "../database/postgres-reader.ts";

/** Reads kept logs in PostgreSQL, in any process and several reads at a time. */
export class PostgresKeptLogs extends SqlKeptLogs {
  constructor(database: PostgresDatabase) {
    super(new PostgresReader(database));
  }
}
