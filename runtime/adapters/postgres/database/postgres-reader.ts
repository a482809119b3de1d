import { PlatformError } from "../../../api/platform-error.ts";
import type { SqlReader, SqlSnapshot } from "../../sql/sql-dialect.ts";
import { renderSql } from "../../sql/sql-text.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import { postgresDialect, postgresParameter } from "./postgres-dialect.ts";

/** Reads in a transaction each, some at the same time. The limit of a statement is that of all of a read, too. */
export class PostgresReader implements SqlReader {
  readonly #database: PostgresDatabase;

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  async read<T>(body: (snapshot: SqlSnapshot) => Promise<T>): Promise<T> {
    const limit = this.#database.readLimit;
    return this.#database.read((transaction) => {
      const began = performance.now();
      return body({
        dialect: postgresDialect,
        all: async (whole) => {
          if (performance.now() - began > limit)
            throw new PlatformError("history_unavailable", `Cannot read history: it took longer than ${limit} ms`);
          const { text, values } = renderSql(whole, postgresParameter);
          return await transaction.all(text, values);
        },
      });
    });
  }
}
