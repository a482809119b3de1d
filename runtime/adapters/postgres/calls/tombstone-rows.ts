import { callIdBytes, callIdText } from "../../sql/calls/call-id-bytes.ts";
import type { PostgresTransaction } from "../database/postgres-pool.ts";

/** Milliseconds for which it is known that a call was removed: longer than its dead letter and its record may live. */
const removedKept = 30 * 86_400_000;
/** Milliseconds for which it is known that a call was withdrawn: longer than changes come again. */
const withdrawnKept = 3_600_000;

/** Of calls whose changes are ignored, the revision up to which they are: infinite for one that was removed for good. */
export async function findTombstones(
  transaction: PostgresTransaction,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (ids.length === 0) return new Map();
  const found = await transaction.all("SELECT id, revision FROM tombstone WHERE id = ANY($1::bytea[])", [
    ids.map(callIdBytes),
  ]);
  return new Map(
    found.map(({ id, revision }) => [
      callIdText(id as Uint8Array),
      revision === null ? Number.POSITIVE_INFINITY : Number(revision),
    ]),
  );
}

/** Notes calls that are ignored up to a revision; null = for good. */
export async function putTombstones(
  transaction: PostgresTransaction,
  revisions: ReadonlyMap<string, number | null>,
  now: number,
): Promise<void> {
  if (revisions.size === 0) return;
  await transaction.all(
    `INSERT INTO tombstone (id, revision, written) SELECT t.id, t.revision, $3::bigint
     FROM unnest($1::bytea[], $2::bigint[]) AS t (id, revision)
     ON CONFLICT (id) DO UPDATE SET revision = excluded.revision, written = excluded.written
     WHERE tombstone.revision < coalesce(excluded.revision, 9223372036854775807)`,
    [[...revisions.keys()].map(callIdBytes), [...revisions.values()], now],
  );
}

export async function trimTombstones(transaction: PostgresTransaction, now: number): Promise<void> {
  await transaction.all("DELETE FROM tombstone WHERE revision IS NULL AND written < $1", [now - removedKept]);
  await transaction.all("DELETE FROM tombstone WHERE revision IS NOT NULL AND written < $1", [now - withdrawnKept]);
}
