import { DatabaseSync } from "node:sqlite";

import { expect, test } from "vitest";

import { SqlKeptLogs } from "../../../../../runtime/adapters/sql/logs/sql-kept-logs.ts";
import type { SqlReader } from "../../../../../runtime/adapters/sql/sql-dialect.ts";
import { renderSql, type SqlStatement } from "../../../../../runtime/adapters/sql/sql-text.ts";
import { LineTable } from "../../../../../runtime/adapters/sqlite/logs/line-table.ts";
import { logsSchema } from "../../../../../runtime/adapters/sqlite/logs/logs-schema.ts";
import { LineTrim } from "../../../../../runtime/adapters/sqlite/logs/trim-lines.ts";
import { migrateSqlite } from "../../../../../runtime/adapters/sqlite/database/migrate-sqlite.ts";
import { sqliteDialect, sqliteParameter } from "../../../../../runtime/adapters/sqlite/database/sqlite-dialect.ts";

const pay = { namespace: "shop", name: "pay" };

/** A database with a line, and what is read of it. */
function open() {
  const database = new DatabaseSync(":memory:");
  migrateSqlite(database, "kept logs", logsSchema.migrations);
  const lines = new LineTable(database);
  lines.add({ ...pay, instance: "a", timestamp: "2026-01-31T12:00:00Z", text: "one\n", number: 0 });
  lines.writeChanges();
  const statements: SqlStatement[] = [];
  const reader: SqlReader = {
    read: (body) =>
      body({
        dialect: sqliteDialect,
        all: async (whole) => {
          const statement = renderSql(whole, sqliteParameter);
          statements.push(statement);
          return database.prepare(statement.text).all(...statement.values);
        },
      }),
  };
  return { database, lines, reader, statements };
}

test("no read scans a table or sorts", async () => {
  const { database, reader, statements } = open();
  const logs = new SqlKeptLogs(reader);
  const range = { since: 1, until: 2 ** 50, containing: "one" };
  for (const query of [{}, { instance: "a" }, range, { newest: true }, { ...range, instance: "a", newest: true }])
    expect((await logs.lines({ ...pay, ...query, limit: 10 })).lines).toHaveLength(1);
  await logs.lines({ ...pay, after: [1, 0, 0], limit: 10 });
  expect(await logs.lineReplicas(pay)).toEqual(["a"]);
  const plans = statements.flatMap(({ text, values }) =>
    database
      .prepare(`EXPLAIN QUERY PLAN ${text}`)
      .all(...values)
      .map(({ detail }) => String(detail)),
  );
  expect(plans.length).toBeGreaterThan(statements.length);
  expect(plans.filter((detail) => /SCAN|TEMP B-TREE/.test(detail))).toEqual([]);
  database.close();
});

test("removal reads by index, too", () => {
  const { database, lines } = open();
  const prepared: string[] = [];
  const watched = { prepare: (text: string) => (prepared.push(text), database.prepare(text)) };
  expect(new LineTrim(watched as DatabaseSync, lines)).toBeInstanceOf(LineTrim);
  const plans = prepared.flatMap((text) =>
    database
      .prepare(`EXPLAIN QUERY PLAN ${text}`)
      .all(...(text.match(/\?/g) ?? []).map(() => 1))
      .map(({ detail }) => String(detail)),
  );
  expect(plans.length).toBeGreaterThanOrEqual(prepared.length);
  expect(plans.filter((detail) => /SCAN|TEMP B-TREE/.test(detail))).toEqual([]);
  database.close();
});
