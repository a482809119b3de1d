import type { HistoryCall } from "../../../core/history/history-row.ts";
import { stateCodes } from "../../sql/calls/call-codes.ts";
import { callIdBytes } from "../../sql/calls/call-id-bytes.ts";
import { storedColumns, storedValues } from "../../sql/calls/stored-call.ts";
import { dayOf } from "../database/partition-days.ts";
import type { PostgresScalar, PostgresTransaction } from "../database/postgres-pool.ts";
import { needDays, tableOf } from "./call-days.ts";
import { nameIds, type CallNames } from "./call-names.ts";
import type { FoundCall, PostgresRow } from "./found-calls.ts";
import { StoredCounts } from "./stored-counts.ts";

/** A call before and after; undefined = not stored. */
export interface CallRowChange {
  readonly before: FoundCall | undefined;
  readonly after: HistoryCall | undefined;
}

/** Bytes that a call takes beside its details: its other columns, and its entries in indexes. Measured. */
const besideDetails = 380;

const types: Readonly<Record<(typeof storedColumns)[number] | "day" | "size", string>> = {
  id: "bytea",
  revision: "bigint",
  accepted: "bigint",
  fn: "integer",
  queue: "integer",
  kind: "smallint",
  state: "smallint",
  status: "smallint",
  reason: "text",
  source: "smallint",
  ended: "bigint",
  wait: "double precision",
  duration: "double precision",
  cold_start: "double precision",
  retries: "integer",
  replay_of: "bytea",
  details: "text",
  day: "integer",
  size: "integer",
};
const columns = [...storedColumns, "day", "size"] as const;
const putText = `INSERT INTO call (${columns.join(", ")})
  SELECT * FROM unnest(${columns.map((name, index) => `$${index + 1}::${types[name]}[]`).join(", ")})
  ON CONFLICT (id, day) DO UPDATE SET ${columns
    .filter((name) => name !== "id" && name !== "day")
    .map((name) => `${name} = excluded.${name}`)
    .join(", ")}`;

/** Stores and removes calls, each once, and counts them. */
export async function changeCalls(transaction: PostgresTransaction, changes: readonly CallRowChange[]): Promise<void> {
  if (changes.length === 0) return;
  const stored = changes.flatMap(({ after }) => after ?? []);
  const names = await nameIds(
    transaction,
    stored.map(({ row }) => row),
    stored.map(({ row }) => row.queue),
  );
  const counts = new StoredCounts();
  const removed: PostgresRow[] = [];
  const put: (readonly PostgresScalar[])[] = [];
  const days = new Set<number>();
  for (const { before, after } of changes) {
    const row = after === undefined ? undefined : rowOf(after, names);
    if (before !== undefined) counts.subtract(before);
    // A call whose time of acceptance is another one moves to another partition.
    if (before !== undefined && before.day !== row?.counted.day) removed.push(before);
    if (row === undefined) continue;
    counts.add(row.counted);
    days.add(row.counted.day);
    put.push(row.values);
  }
  await needDays(transaction, [...days]);
  await deleteRows(transaction, removed);
  if (put.length > 0) await transaction.all(putText, columnsOf(put));
  await counts.write(transaction);
}

/** Removes rows that were found, and subtracts them. */
export async function removeRows(transaction: PostgresTransaction, rows: readonly PostgresRow[]): Promise<void> {
  const counts = new StoredCounts();
  for (const row of rows) counts.subtract(row);
  await deleteRows(transaction, rows);
  await counts.write(transaction);
}

async function deleteRows(transaction: PostgresTransaction, rows: readonly PostgresRow[]): Promise<void> {
  for (const [day, some] of Map.groupBy(rows, (row) => row.day))
    await transaction.all(`DELETE FROM ${tableOf(day)} WHERE id = ANY($1::bytea[])`, [some.map(({ id }) => id)]);
}

function rowOf(call: HistoryCall, names: CallNames) {
  const { row } = call;
  const [fn, queue] = [names.functionId(row), names.wordId(row.queue)];
  const values = storedValues(call, { fn, queue });
  const accepted = Math.floor(row.accepted);
  const day = dayOf(accepted);
  const size = Buffer.byteLength(String(values[storedColumns.indexOf("details")])) + besideDetails;
  const counted: PostgresRow = { id: callIdBytes(row.id), fn, state: stateCodes.code(row.state), accepted, day, size };
  return { counted, values: [...values, day, size] };
}

function columnsOf(rows: readonly (readonly PostgresScalar[])[]): readonly (readonly PostgresScalar[])[] {
  return columns.map((_name, index) => rows.map((row) => row[index] ?? null));
}
