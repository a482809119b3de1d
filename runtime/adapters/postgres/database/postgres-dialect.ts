import type { SqlDialect } from "../../sql/sql-dialect.ts";
import { sql } from "../../sql/sql-text.ts";
import { dayOf } from "./partition-days.ts";

export const postgresDialect: SqlDialect = {
  usingIndex: () => sql``,
  choosesIndexes: true,
  isOneOf: (column, values) => {
    if (values.length === 0) return sql`false`;
    const list = arrayLiteral(values);
    return isNumbers(values) ? sql`${column} = ANY(${list}::bigint[])` : sql`${column} = ANY(${list}::text[])`;
  },
  // Lines are bytes: a text of PostgreSQL holds no NUL.
  contains: (column, part) => sql`position(${Buffer.from(part)}::bytea IN ${column}) > 0`,
  partitionsOf: (since, until) => [sql`c.day >= ${dayOf(since)}`, sql`c.day <= ${dayOf(until)}`],
  lineTables: { function: sql`log_function`, replica: sql`log_replica`, line: sql`log_line` },
};

/** Writes a numbered parameter. */
export function postgresParameter(number: number): string {
  return `$${number}`;
}

function isNumbers(values: readonly number[] | readonly string[]): values is readonly number[] {
  return typeof values[0] === "number";
}

function arrayLiteral(values: readonly (number | string)[]): string {
  const items = values.map((value) => (typeof value === "number" ? value : `"${value.replaceAll(/["\\]/g, "\\$&")}"`));
  return `{${items.join(",")}}`;
}
