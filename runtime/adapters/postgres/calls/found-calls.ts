import type { HistoryCall } from "../../../core/history/history-row.ts";
import { callRowOf, rowColumns, rowTables } from "../../sql/calls/call-columns.ts";
import { callIdBytes } from "../../sql/calls/call-id-bytes.ts";
import { expandDetails } from "../../sql/calls/compact-details.ts";
import type { CountedCall } from "../../sql/calls/count-changes.ts";
import { renderSql, sql } from "../../sql/sql-text.ts";
import { postgresParameter } from "../database/postgres-dialect.ts";
import type { PostgresTransaction } from "../database/postgres-pool.ts";

/** A row as it is counted, and where it is. */
export interface PostgresRow extends CountedCall {
  readonly id: Uint8Array;
  readonly day: number;
  readonly size: number;
}

/** A call that is stored, with its row. */
export interface FoundCall extends PostgresRow {
  readonly call: HistoryCall;
}

const findText = renderSql(
  sql`SELECT ${rowColumns}, c.details, c.fn, c.day, c.size FROM call AS c ${rowTables} WHERE c.id = ANY(${null}::bytea[])`,
  postgresParameter,
).text;

/** The calls of these ids that are stored, by their ids. */
export async function findCalls(
  transaction: PostgresTransaction,
  ids: readonly string[],
): Promise<ReadonlyMap<string, FoundCall>> {
  if (ids.length === 0) return new Map();
  const records = await transaction.all(findText, [ids.map(callIdBytes)]);
  return new Map(
    records.map((record) => {
      const row = callRowOf(record);
      const call = { row, details: expandDetails(String(record["details"]), row) };
      return [row.id, { ...postgresRow(record), call }];
    }),
  );
}

/** The row of columns id, fn, state, accepted, day and size. */
export function postgresRow(record: Readonly<Record<string, unknown>>): PostgresRow {
  return {
    id: record["id"] as Uint8Array,
    fn: Number(record["fn"]),
    state: Number(record["state"]),
    accepted: Number(record["accepted"]),
    day: Number(record["day"]),
    size: Number(record["size"]),
  };
}
