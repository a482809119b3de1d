import type { HistoryGap, StreamPosition } from "../../../core/ports/call-history.ts";
import type { PostgresTransaction } from "../database/postgres-pool.ts";

/** How far the records were read. */
export async function readPosition(transaction: PostgresTransaction): Promise<StreamPosition | undefined> {
  const [progress] = await transaction.all("SELECT position FROM progress WHERE one = 1");
  const position = progress?.["position"];
  return typeof position === "string" ? (JSON.parse(position) as StreamPosition) : undefined;
}

export async function writePosition(transaction: PostgresTransaction, position: StreamPosition): Promise<void> {
  await transaction.all("UPDATE progress SET position = $1 WHERE one = 1", [JSON.stringify(position)]);
}

/** A gap that grew is given again, with the same begin. */
export async function putGap(transaction: PostgresTransaction, { from, to }: HistoryGap): Promise<void> {
  await transaction.all(
    `INSERT INTO gap (since, until) VALUES ($1, $2)
     ON CONFLICT (since) DO UPDATE SET until = greatest(gap.until, excluded.until)`,
    [Math.floor(from), Math.ceil(to)],
  );
}

export async function trimGaps(transaction: PostgresTransaction, before: number): Promise<void> {
  await transaction.all("DELETE FROM gap WHERE until < $1", [before]);
}
