import { expect, test } from "vitest";

import { postgresDialect, postgresParameter } from "../../../../runtime/adapters/postgres/database/postgres-dialect.ts";
import { renderSql, sql, type SqlText } from "../../../../runtime/adapters/sql/sql-text.ts";

const rendered = (text: SqlText) => renderSql(text, postgresParameter);

test("lists are one value of a statement, whatever is in them", () => {
  expect(rendered(postgresDialect.isOneOf(sql`c.fn`, [3, 5]))).toEqual({
    text: "c.fn = ANY($1::bigint[])",
    values: ["{3,5}"],
  });
  expect(rendered(postgresDialect.isOneOf(sql`c.reason`, ['a"b', "c\\d", "e,f}", "NULL", ""]))).toEqual({
    text: "c.reason = ANY($1::text[])",
    values: [String.raw`{"a\"b","c\\d","e,f}","NULL",""}`],
  });
  expect(rendered(postgresDialect.isOneOf(sql`c.fn`, []))).toEqual({ text: "false", values: [] });
});

test("a part of a line is searched as bytes", () => {
  expect(rendered(postgresDialect.contains(sql`l.text`, "ü\0%"))).toEqual({
    text: "position($1::bytea IN l.text) > 0",
    values: [Buffer.from("ü\0%")],
  });
});

test("times name the days whose partitions they are in", () => {
  const day = 86_400_000;
  const [first, last] = postgresDialect.partitionsOf(3 * day - 1, 5 * day).map(rendered);
  expect([first, last]).toEqual([
    { text: "c.day >= $1", values: [2] },
    { text: "c.day <= $1", values: [5] },
  ]);
});
