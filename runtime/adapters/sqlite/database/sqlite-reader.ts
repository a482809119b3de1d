import type { DatabaseSync, StatementSync } from "node:sqlite";

import type { SqlReader, SqlSnapshot } from "../../sql/sql-dialect.ts";
import { renderSql, type SqlText } from "../../sql/sql-text.ts";
import { sqliteDialect, sqliteParameter } from "./sqlite-dialect.ts";

/** Statements that stay prepared: input never becomes text, so there are few. */
const maxPrepared = 100;

/** Reads in a transaction each, one after the other: they share the connection. */
export class SqliteReader implements SqlReader {
  readonly #database: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  read<T>(body: (snapshot: SqlSnapshot) => Promise<T>): Promise<T> {
    const result = this.#last.then(() => this.#inTransaction(body));
    this.#last = result.catch(() => {});
    return result;
  }

  async #inTransaction<T>(body: (snapshot: SqlSnapshot) => Promise<T>): Promise<T> {
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
    return this.#statement(text).all(...values);
  }

  #statement(text: string): StatementSync {
    const known = this.#prepared.get(text);
    if (known !== undefined) return known;
    if (this.#prepared.size >= maxPrepared) this.#prepared.clear();
    const prepared = this.#database.prepare(text);
    this.#prepared.set(text, prepared);
    return prepared;
  }
}
