import { expect, test } from "vitest";

import { joinSql, renderSql, sql } from "../../../../runtime/adapters/sql/sql-text.ts";

test("renderSql() numbers the values of a statement and its parts, and writes none of them", () => {
  const evil = "x'); DROP TABLE call; --";
  const conditions = [sql`a = ${evil}`, sql`b BETWEEN ${1} AND ${2}`, sql`c IS NULL`];
  const bytes = new Uint8Array([1, 2]);
  const statement = sql`SELECT a FROM ${sql`call`} WHERE ${joinSql(conditions, " AND ")} AND id = ${bytes} LIMIT ${null}`;
  expect(renderSql(statement, (number) => `$${number}`)).toEqual({
    text: "SELECT a FROM call WHERE a = $1 AND b BETWEEN $2 AND $3 AND c IS NULL AND id = $4 LIMIT $5",
    values: [evil, 1, 2, bytes, null],
  });
  expect(renderSql(sql`x IN (${joinSql([], ", ")})`, String)).toEqual({ text: "x IN ()", values: [] });
});
