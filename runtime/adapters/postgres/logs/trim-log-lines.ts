import type { KeptLogBounds } from "../../../core/ports/kept-logs.ts";
import { firstOfBytes } from "../database/first-of-bytes.ts";
import type { PostgresTransaction } from "../database/postgres-pool.ts";
import { logRow, removeLines, type LogRow } from "./log-lines.ts";

/** Lines that are removed in one transaction for each of the bounds. */
const linesAtOnce = 1_000;
/** Replicas that are forgotten in one transaction. */
const replicasAtOnce = 200;

/** Removes some of the oldest lines beyond the bounds; true if there is more to remove. */
export async function trimLines(
  transaction: PostgresTransaction,
  { age, bytes, functionBytes }: KeptLogBounds,
  now: number,
): Promise<boolean> {
  const old = await oldest(transaction, Math.ceil(now - age));
  await removeLines(transaction, old);
  if (old.length === linesAtOnce) return true;
  const [largest] = await transaction.all(
    "SELECT id, bytes FROM log_function WHERE bytes > $1 ORDER BY bytes DESC LIMIT 1",
    [functionBytes],
  );
  if (largest !== undefined) {
    const own = await transaction.all(
      "SELECT seq, fn, size FROM log_line WHERE fn = $1 ORDER BY at, nanos, seq LIMIT $2",
      [Number(largest["id"]), linesAtOnce],
    );
    await removeLines(transaction, firstOfBytes(own.map(logRow), Number(largest["bytes"]) - functionBytes));
    return true;
  }
  const excess = (await storedLines(transaction)).bytes - bytes;
  if (excess <= 0) return false;
  const removed = firstOfBytes(await oldest(transaction, Number.MAX_SAFE_INTEGER), excess);
  await removeLines(transaction, removed);
  return removed.length > 0;
}

/** Forgets old replicas without lines, and functions without replicas. */
export async function forgetUnused(transaction: PostgresTransaction, before: number): Promise<void> {
  await transaction.all(
    `DELETE FROM log_replica WHERE id IN (
       SELECT o.id FROM (SELECT id FROM log_replica WHERE at < $1 ORDER BY at LIMIT ${replicasAtOnce}) AS o
       WHERE NOT EXISTS (SELECT 1 FROM log_line AS l WHERE l.replica = o.id))`,
    [before],
  );
  await transaction.all(
    `DELETE FROM log_function WHERE bytes = 0
     AND NOT EXISTS (SELECT 1 FROM log_replica AS r WHERE r.fn = log_function.id)`,
  );
}

/** What is stored, as it is counted. */
export async function storedLines(
  transaction: PostgresTransaction,
): Promise<{ readonly lines: number; readonly bytes: number }> {
  const [sums] = await transaction.all(
    "SELECT coalesce(sum(lines), 0) AS lines, coalesce(sum(bytes), 0) AS bytes FROM log_function",
  );
  return { lines: Number(sums?.["lines"]), bytes: Number(sums?.["bytes"]) };
}

async function oldest(transaction: PostgresTransaction, before: number): Promise<readonly LogRow[]> {
  const rows = await transaction.all("SELECT seq, fn, size FROM log_line WHERE at < $1 ORDER BY at LIMIT $2", [
    before,
    linesAtOnce,
  ]);
  return rows.map(logRow);
}
