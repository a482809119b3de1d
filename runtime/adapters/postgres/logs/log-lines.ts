import { isCovered } from "../../../core/history/logs/line-numbers.ts";
import { parseLogMoment } from "../../../core/history/logs/log-moment.ts";
import type { FollowedLine, LogPosition } from "../../../core/ports/kept-logs.ts";
import { streamCode } from "../../sql/logs/stream-codes.ts";
import type { PostgresTransaction } from "../database/postgres-pool.ts";
import { needReplicas, replicaKey, writePositions } from "./log-replicas.ts";

/** A row that is to be deleted. */
export interface LogRow {
  readonly seq: number;
  readonly fn: number;
  readonly size: number;
}

interface NewLine {
  readonly fn: number;
  readonly replica: number;
  readonly position: LogPosition;
  readonly stream: number | null;
  readonly text: Uint8Array;
}

/** Bytes that a line takes beside its text: its row, and its entries in four indexes. */
const besideText = 200;

/** Stores lines, but those up to which their replica was kept already. */
export async function addLines(transaction: PostgresTransaction, lines: readonly FollowedLine[]): Promise<void> {
  const timed = lines.flatMap((line) => {
    const moment = parseLogMoment(line.timestamp);
    return moment === undefined ? [] : [{ line, position: { ...moment, number: line.number } }];
  });
  if (timed.length === 0) return;
  const replicas = await needReplicas(
    transaction,
    timed.map(({ line }) => line),
  );
  const positions = new Map<number, LogPosition>();
  const added: NewLine[] = [];
  for (const { line, position } of timed) {
    const replica = replicas.get(replicaKey(line));
    if (replica === undefined || isCovered(position, positions.get(replica.id) ?? replica.position)) continue;
    positions.set(replica.id, position);
    const { fn, id } = replica;
    added.push({ fn, replica: id, position, stream: streamCode(line.stream), text: bytesOf(line.text) });
  }
  if (added.length === 0) return;
  await insertLines(transaction, added);
  await writePositions(transaction, positions);
  await countLines(
    transaction,
    added.map(({ fn, text }) => ({ fn, size: text.length + besideText })),
    1,
  );
}

/** Removes lines that were found. */
export async function removeLines(transaction: PostgresTransaction, lines: readonly LogRow[]): Promise<void> {
  if (lines.length === 0) return;
  await transaction.all("DELETE FROM log_line WHERE seq = ANY($1::bigint[])", [lines.map(({ seq }) => seq)]);
  await countLines(transaction, lines, -1);
}

/** The row of columns seq, fn and size. */
export function logRow(record: Readonly<Record<string, unknown>>): LogRow {
  return { seq: Number(record["seq"]), fn: Number(record["fn"]), size: Number(record["size"]) };
}

async function insertLines(transaction: PostgresTransaction, lines: readonly NewLine[]): Promise<void> {
  await transaction.all(
    `INSERT INTO log_line (fn, replica, at, nanos, stream, size, text)
     SELECT l.fn, l.replica, l.at, l.nanos, l.stream, l.size, l.text
     FROM unnest($1::integer[], $2::integer[], $3::bigint[], $4::integer[], $5::smallint[], $6::integer[], $7::bytea[])
       WITH ORDINALITY AS l (fn, replica, at, nanos, stream, size, text, number) ORDER BY l.number`,
    [
      lines.map(({ fn }) => fn),
      lines.map(({ replica }) => replica),
      lines.map(({ position }) => position.at),
      lines.map(({ position }) => position.nanos),
      lines.map(({ stream }) => stream),
      lines.map(({ text }) => text.length + besideText),
      lines.map(({ text }) => text),
    ],
  );
}

async function countLines(
  transaction: PostgresTransaction,
  lines: readonly Pick<LogRow, "fn" | "size">[],
  by: 1 | -1,
): Promise<void> {
  const counts = [...Map.groupBy(lines, ({ fn }) => fn)];
  await transaction.all(
    `UPDATE log_function SET lines = log_function.lines + c.lines, bytes = log_function.bytes + c.bytes
     FROM unnest($1::integer[], $2::bigint[], $3::bigint[]) AS c (id, lines, bytes) WHERE log_function.id = c.id`,
    [
      counts.map(([fn]) => fn),
      counts.map(([, own]) => by * own.length),
      counts.map(([, own]) => by * own.reduce((sum, { size }) => sum + size, 0)),
    ],
  );
}

function bytesOf(text: string): Uint8Array {
  return Buffer.from(text.endsWith("\n") ? text.slice(0, -1) : text);
}
