import type { SqlDialect } from "../../sql/sql-dialect.ts";
import { sql } from "../../sql/sql-text.ts";

export const sqliteDialect: SqlDialect = {
  usingIndex: (index) => sql`INDEXED BY ${index}`,
  isOneOf: (column, values) => sql`${column} IN (SELECT value FROM json_each(${JSON.stringify(values)}))`,
};

/** Writes a numbered parameter. */
export function sqliteParameter(number: number): string {
  return `?${number}`;
}
