import type { PostgresTransaction } from "../database/postgres-pool.ts";
import { removeRows } from "./change-calls.ts";
import { postgresRow } from "./found-calls.ts";
import { removeRollups } from "./rollup-rows.ts";

/** Calls that are removed in one transaction. */
const atOnce = 1_000;

/** Removes some calls of a namespace, or a function of it that has none; true if there may be more. */
export async function removeSomeOf(transaction: PostgresTransaction, namespace: string): Promise<boolean> {
  const [found] = await transaction.all("SELECT id FROM function WHERE namespace = $1 LIMIT 1", [namespace]);
  if (found === undefined) return false;
  const fn = Number(found["id"]);
  const rows = await transaction.all(
    `SELECT c.id, c.fn, c.state, c.accepted, c.day, c.size FROM call AS c WHERE c.fn = $1
     ORDER BY c.accepted, c.id LIMIT ${atOnce}`,
    [fn],
  );
  await removeRows(transaction, rows.map(postgresRow));
  if (rows.length === atOnce) return true;
  await removeRollups(transaction, fn);
  await transaction.all("DELETE FROM function WHERE id = $1", [fn]);
  return true;
}

/** Removes functions of which nothing is kept. */
export async function removeUnusedFunctions(transaction: PostgresTransaction): Promise<void> {
  await transaction.all(
    `DELETE FROM function WHERE calls = 0
     AND NOT EXISTS (SELECT 1 FROM rollup WHERE rollup.step = 2 AND rollup.fn = function.id)`,
  );
}
