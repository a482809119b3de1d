import { rollupSteps, type RollupPoint, type RollupStep } from "../../../core/history/rollups/rollup.ts";
import { projectRollups, rollupKeys, rollupKeyText, type RollupKey } from "../../sql/rollups/project-rollups.ts";
import { rollupStepCode } from "../../sql/rollups/rollup-codes.ts";
import type { StoredRollup } from "../../sql/rollups/stored-rollup.ts";
import type { PostgresTransaction } from "../database/postgres-pool.ts";
import { firstOfBytes } from "../database/first-of-bytes.ts";
import { nameIds } from "./call-names.ts";

/** Rows that a trim deletes of one step. */
const trimmedRows = 5_000;
/** Bytes of a row beside its counts: its key, and its entries in two indexes. */
const besideCounts = 130;

/** Adds points to the rollups, of each function and of all together, in every step. */
export async function addRollups(transaction: PostgresTransaction, points: readonly RollupPoint[]): Promise<void> {
  if (points.length === 0) return;
  const [progress] = await transaction.all("SELECT rollups_since AS since FROM progress WHERE one = 1");
  const names = await nameIds(
    transaction,
    points,
    points.map(({ source }) => source),
  );
  const named = points.map((point) => ({ point, fn: names.functionId(point), source: names.wordId(point.source) }));
  const stored = await storedRollups(transaction, rollupKeys(named));
  const rows = projectRollups(named, Number(progress?.["since"]), stored.counts);
  if (rows.length === 0) return;
  const texts = rows.map(({ counts }) => JSON.stringify(counts));
  await transaction.all(
    `INSERT INTO rollup (step, fn, at, source, calls, counts)
     SELECT * FROM unnest($1::smallint[], $2::integer[], $3::bigint[], $4::integer[], $5::bigint[], $6::text[])
     ON CONFLICT (step, fn, at, source) DO UPDATE SET calls = excluded.calls, counts = excluded.counts`,
    [...keyColumns(rows), rows.map(({ calls }) => calls), texts],
  );
  const before = rows.map((row) => stored.sizes.get(rollupKeyText(row)) ?? 0);
  await countBytes(transaction, sumOf(texts.map(sizeOf)) - sumOf(before));
}

/** Deletes some of what began before these times; true if there may be more. */
export async function trimRollups(
  transaction: PostgresTransaction,
  before: Readonly<Record<RollupStep, number>>,
): Promise<boolean> {
  await ignoreBefore(transaction, before["10s"]);
  let [more, bytes] = [false, 0];
  for (const [step, time] of Object.entries(before)) {
    const deleted = await transaction.all(
      `DELETE FROM rollup WHERE ctid = ANY(ARRAY(
         SELECT ctid FROM rollup WHERE step = $1 AND at < $2 ORDER BY at LIMIT ${trimmedRows})) RETURNING counts`,
      [rollupStepCode[step as RollupStep], time],
    );
    more ||= deleted.length === trimmedRows;
    bytes += sumOf(deleted.map(({ counts }) => sizeOf(String(counts))));
  }
  await countBytes(transaction, -bytes);
  return more;
}

/** Deletes some of the oldest intervals, the finest first, until they had so many bytes; resolves with their number. */
export async function trimRollupBytes(transaction: PostgresTransaction, excess: number, now: number): Promise<number> {
  for (const step of Object.keys(rollupStepCode) as RollupStep[]) {
    if (excess <= 0) return 0;
    const { length } = rollupSteps[step];
    const found = await transaction.all(
      "SELECT step, fn, at, source, counts FROM rollup WHERE step = $1 AND at < $2 ORDER BY at LIMIT $3",
      // An interval that is not over would begin anew, and have less than was counted.
      [rollupStepCode[step], now - 2 * length, trimmedRows],
    );
    const rows = firstOfBytes(
      found.map((row) => ({ ...keyOf(row), size: sizeOf(String(row["counts"])) })),
      excess,
    );
    const last = rows.at(-1);
    if (last === undefined) continue;
    await transaction.all(
      `DELETE FROM rollup AS r
       USING unnest($1::smallint[], $2::integer[], $3::bigint[], $4::integer[]) AS k (step, fn, at, source)
       WHERE r.step = k.step AND r.fn = k.fn AND r.at = k.at AND r.source = k.source`,
      keyColumns(rows),
    );
    await countBytes(transaction, -sumOf(rows.map(({ size }) => size)));
    // Whether a point came before is not known any more.
    if (step === "10s") await ignoreBefore(transaction, last.at + length);
    return rows.length;
  }
  return 0;
}

/** Deletes the rollups of a function. */
export async function removeRollups(transaction: PostgresTransaction, fn: number): Promise<void> {
  const deleted = await transaction.all(
    "DELETE FROM rollup WHERE step = ANY($1::smallint[]) AND fn = $2 RETURNING counts",
    [Object.values(rollupStepCode), fn],
  );
  await countBytes(transaction, -sumOf(deleted.map(({ counts }) => sizeOf(String(counts)))));
}

async function ignoreBefore(transaction: PostgresTransaction, time: number): Promise<void> {
  await transaction.all("UPDATE progress SET rollups_since = $1 WHERE one = 1 AND rollups_since < $1", [time]);
}

async function countBytes(transaction: PostgresTransaction, by: number): Promise<void> {
  if (by !== 0) await transaction.all("UPDATE progress SET rollup_bytes = rollup_bytes + $1 WHERE one = 1", [by]);
}

async function storedRollups(transaction: PostgresTransaction, keys: readonly RollupKey[]) {
  const found = await transaction.all(
    `SELECT r.step, r.fn, r.at, r.source, r.counts
     FROM unnest($1::smallint[], $2::integer[], $3::bigint[], $4::integer[]) AS k (step, fn, at, source)
     JOIN rollup AS r ON r.step = k.step AND r.fn = k.fn AND r.at = k.at AND r.source = k.source`,
    keyColumns(keys),
  );
  const texts = new Map(found.map((row) => [rollupKeyText(keyOf(row)), String(row["counts"])]));
  const each = <T>(what: (text: string) => T) => new Map([...texts].map(([key, text]) => [key, what(text)]));
  return { counts: each((text) => JSON.parse(text) as StoredRollup), sizes: each(sizeOf) };
}

function keyOf({ step, fn, at, source }: Readonly<Record<string, unknown>>): RollupKey {
  return { step: Number(step), fn: Number(fn), at: Number(at), source: Number(source) };
}

function keyColumns(keys: readonly RollupKey[]): readonly (readonly number[])[] {
  return [
    keys.map(({ step }) => step),
    keys.map(({ fn }) => fn),
    keys.map(({ at }) => at),
    keys.map(({ source }) => source),
  ];
}

function sizeOf(counts: string): number {
  return Buffer.byteLength(counts) + besideCounts;
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}
