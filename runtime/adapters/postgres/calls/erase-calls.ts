import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import { stateCodes } from "../../sql/calls/call-codes.ts";
import { callIdText } from "../../sql/calls/call-id-bytes.ts";
import type { PostgresTransaction } from "../database/postgres-pool.ts";
import { removeRows } from "./change-calls.ts";
import { postgresRow, type PostgresRow } from "./found-calls.ts";
import { putTombstones } from "./tombstone-rows.ts";

/** Calls that are looked at in one transaction. */
const atOnce = 1_000;
const firstEnded = stateCodes.code("done");

/** What became of some calls of a function. */
export interface ErasedCalls {
  readonly calls: number;
  readonly open: number;
  /** Where the next ones begin; undefined when there are none. */
  readonly next: Pick<PostgresRow, "accepted" | "id"> | undefined;
}

/** Removes some ended calls of a function, after a place, so that nothing brings them back. */
export async function eraseSomeCalls(
  transaction: PostgresTransaction,
  { namespace, name }: FunctionRef,
  after: ErasedCalls["next"],
  now: number,
): Promise<ErasedCalls> {
  const [found] = await transaction.all("SELECT id FROM function WHERE namespace = $1 AND name = $2", [
    namespace,
    name,
  ]);
  if (found === undefined) return { calls: 0, open: 0, next: undefined };
  const { accepted, id } = after ?? { accepted: Number.MIN_SAFE_INTEGER, id: new Uint8Array(0) };
  const records = await transaction.all(
    `SELECT c.id, c.fn, c.state, c.accepted, c.day, c.size FROM call AS c
     WHERE c.fn = $1 AND (c.accepted, c.id) > ($2, $3) ORDER BY c.accepted, c.id LIMIT ${atOnce}`,
    [Number(found["id"]), accepted, id],
  );
  const rows = records.map(postgresRow);
  const ended = rows.filter(({ state }) => state >= firstEnded);
  await removeRows(transaction, ended);
  await putTombstones(transaction, new Map(ended.map((row) => [callIdText(row.id), null])), now);
  return {
    calls: ended.length,
    open: rows.length - ended.length,
    next: rows.length < atOnce ? undefined : rows.at(-1),
  };
}
