import type { DatabaseSync } from "node:sqlite";

import type { SqlReader, SqlSnapshot } from "../../sql/sql-dialect.ts";
import { renderSql, type SqlText } from "../../sql/sql-text.ts";
import { sqliteDialect, sqliteParameter } from "./sqlite-dialect.ts";

/** Reads in a transaction each. One read at a time: they share the connection. */
export class SqliteReader implements SqlReader {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  async read<T>(body: (snapshot: SqlSnapshot) => Promise<T>): Promise<T> {
    this.#database.exec("BEGIN");
    try {
      return await body({ dialect: sqliteDialect, all: async (statement) => this.#all(statement) });
    } finally {
      // Damage may have ended the transaction.
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
    }
  }

  #all(statement: SqlText) {
    const { text, values } = renderSql(statement, sqliteParameter);
    return this.#database.prepare(text).all(...values);
  }
}
