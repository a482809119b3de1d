import type { PostgresTransaction } from "../database/postgres-pool.ts";

/** Milliseconds for which a partition waits to be dropped: reads that begin meanwhile wait behind it. */
const dropPatience = 500;

/** Creates the partitions of days that have none. Reads go on meanwhile: a table of its own becomes a partition. */
export async function needDays(transaction: PostgresTransaction, days: readonly number[]): Promise<void> {
  if (days.length === 0) return;
  const found = await transaction.all("SELECT day FROM call_day WHERE day = ANY($1::integer[])", [days]);
  const known = new Set(found.map(({ day }) => Number(day)));
  for (const day of days) {
    if (known.has(day)) continue;
    const table = tableOf(day);
    await transaction.all(`CREATE TABLE ${table} (LIKE call INCLUDING ALL)`);
    await transaction.all(`ALTER TABLE call ATTACH PARTITION ${table} FOR VALUES IN (${day})`);
    await transaction.all("INSERT INTO call_day (day, calls, bytes) VALUES ($1, 0, 0)", [day]);
  }
}

/**
 * Days before `before` without an open call, and days before `today` without any call, oldest first: their partitions may
 * go as they are.
 */
export async function endedDays(
  transaction: PostgresTransaction,
  { before, today }: { readonly before: number; readonly today: number },
): Promise<readonly number[]> {
  const found = await transaction.all(
    `SELECT d.day FROM call_day AS d
     WHERE (d.calls = 0 AND d.day < $2)
       OR (d.day < $1 AND NOT EXISTS (SELECT 1 FROM call AS c WHERE c.day = d.day AND c.state < 3))
     ORDER BY d.day`,
    [before, today],
  );
  return found.map(({ day }) => Number(day));
}

/**
 * Removes the calls of a day with their partition, and from what is counted.
 * @throws DatabaseError if reads keep it longer than a moment
 */
export async function dropDay(transaction: PostgresTransaction, day: number): Promise<void> {
  const table = tableOf(day);
  // The scan of a whole table is what is meant.
  await transaction.all("SET LOCAL enable_seqscan = on");
  await transaction.all(
    `WITH gone AS (SELECT fn, state, count(*) AS calls FROM ${table} GROUP BY fn, state),
     functions AS (
       UPDATE function SET calls = function.calls - g.calls
       FROM (SELECT fn, sum(calls) AS calls FROM gone GROUP BY fn) AS g WHERE function.id = g.fn)
     UPDATE state_count SET calls = state_count.calls - g.calls
     FROM (SELECT state, sum(calls) AS calls FROM gone GROUP BY state) AS g WHERE state_count.state = g.state`,
  );
  const minutes = 1_440;
  await transaction.all("DELETE FROM minute_count WHERE minute >= $1 AND minute < $2", [
    day * minutes,
    (day + 1) * minutes,
  ]);
  await transaction.all("DELETE FROM call_day WHERE day = $1", [day]);
  await transaction.all(`SET LOCAL lock_timeout = ${dropPatience}`);
  await transaction.all(`DROP TABLE ${table}`);
}

/** The partition of a day, as part of a statement. */
export function tableOf(day: number): string {
  if (!Number.isSafeInteger(day)) throw new Error(`Cannot name partition: ${day} is no day`);
  return `"call_day_${day}"`;
}
