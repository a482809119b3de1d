import { DatabaseSync } from "node:sqlite";

import { CallTable } from "../../runtime/adapters/sqlite/calls/call-table.ts";
import { historySchema } from "../../runtime/adapters/sqlite/calls/history-schema.ts";
import { NameTable } from "../../runtime/adapters/sqlite/calls/name-table.ts";
import { RollupTable } from "../../runtime/adapters/sqlite/calls/rollup-table.ts";
import { sqliteDialect, sqliteParameter } from "../../runtime/adapters/sqlite/database/sqlite-dialect.ts";
import { migrateSqlite } from "../../runtime/adapters/sqlite/database/migrate-sqlite.ts";
import type { SqlReader, SqlSnapshot } from "../../runtime/adapters/sql/sql-dialect.ts";
import { renderSql, type SqlStatement } from "../../runtime/adapters/sql/sql-text.ts";
import type { HistoryCall } from "../../runtime/core/history/history-row.ts";
import type { RollupPoint } from "../../runtime/core/history/rollups/rollup.ts";

/** A history in the memory of this process, whose statements can be looked at. */
export class SqliteHistoryInMemory implements SqlReader, Disposable {
  readonly database = new DatabaseSync(":memory:");
  /** What was read, in order. */
  readonly statements: SqlStatement[] = [];
  readonly #calls: CallTable;
  readonly #rollups: RollupTable;

  constructor() {
    migrateSqlite(this.database, "history", historySchema.migrations);
    const names = new NameTable(this.database);
    this.#calls = new CallTable(this.database, names);
    this.#rollups = new RollupTable(this.database, names);
  }

  store(calls: readonly HistoryCall[], points: readonly RollupPoint[] = []): void {
    this.database.exec("BEGIN");
    for (const call of calls) this.#calls.put(this.#calls.find(call.row.id), call);
    this.#rollups.add(points);
    this.#calls.writeCounts();
    this.database.exec("COMMIT");
  }

  async read<T>(body: (snapshot: SqlSnapshot) => Promise<T>): Promise<T> {
    return await body({
      dialect: sqliteDialect,
      all: async (whole) => {
        const statement = renderSql(whole, sqliteParameter);
        this.statements.push(statement);
        return this.database.prepare(statement.text).all(...statement.values);
      },
    });
  }

  /** How SQLite would run a statement, a line each. */
  planOf({ text, values }: SqlStatement): readonly string[] {
    const records = this.database.prepare(`EXPLAIN QUERY PLAN ${text}`).all(...values);
    return records.map(({ detail }) => String(detail));
  }

  [Symbol.dispose](): void {
    this.database.close();
  }
}
