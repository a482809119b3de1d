import type { SqlDialect } from "../../sql/sql-dialect.ts";
import { sql } from "../../sql/sql-text.ts";

export const sqliteDialect: SqlDialect = {
  usingIndex: (index) => sql`INDEXED BY ${index}`,
  choosesIndexes: false,
  isOneOf: (column, values) => sql`${column} IN (SELECT value FROM json_each(${JSON.stringify(values)}))`,
  contains: (column, part) => sql`${column} LIKE ${likePattern(part)} ESCAPE '\\'`,
  partitionsOf: () => [],
  lineTables: { function: sql`function`, replica: sql`replica`, line: sql`line` },
};

function likePattern(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}

/** Writes a numbered parameter. */
export function sqliteParameter(number: number): string {
  return `?${number}`;
}
