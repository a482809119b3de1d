import { CountChanges } from "../../sql/calls/count-changes.ts";
import type { PostgresTransaction } from "../database/postgres-pool.ts";
import type { PostgresRow } from "./found-calls.ts";

const writeText = `
WITH functions AS (
  UPDATE function SET calls = function.calls + c.by
  FROM unnest($1::integer[], $2::bigint[]) AS c (id, by) WHERE function.id = c.id
), states AS (
  INSERT INTO state_count (state, calls) SELECT * FROM unnest($3::integer[], $4::bigint[])
  ON CONFLICT (state) DO UPDATE SET calls = state_count.calls + excluded.calls
), minutes AS (
  INSERT INTO minute_count (minute, calls) SELECT * FROM unnest($5::bigint[], $6::bigint[])
  ON CONFLICT (minute) DO UPDATE SET calls = minute_count.calls + excluded.calls
)
UPDATE call_day SET calls = call_day.calls + c.by, bytes = call_day.bytes + c.bytes
FROM unnest($7::integer[], $8::bigint[], $9::bigint[]) AS c (day, by, bytes) WHERE call_day.day = c.day`;

/** By how much a transaction changes the counts that are kept with the calls. */
export class StoredCounts {
  readonly #changes = new CountChanges();
  readonly #days = new Map<number, { calls: number; bytes: number }>();

  add(row: PostgresRow): void {
    this.#changes.add(row);
    this.#changeDay(row, 1);
  }

  subtract(row: PostgresRow): void {
    this.#changes.subtract(row);
    this.#changeDay(row, -1);
  }

  async write(transaction: PostgresTransaction): Promise<void> {
    const { functions, states, minutes } = this.#changes;
    const counts = [functions, states, minutes].map(changed);
    const days = [...this.#days].filter(([, { calls, bytes }]) => calls !== 0 || bytes !== 0);
    if (days.length === 0 && counts.every((each) => each.size === 0)) return;
    await transaction.all(writeText, [
      ...counts.flatMap((each) => [[...each.keys()], [...each.values()]]),
      days.map(([day]) => day),
      days.map(([, { calls }]) => calls),
      days.map(([, { bytes }]) => bytes),
    ]);
    const fewer = [...minutes].filter(([, by]) => by < 0).map(([minute]) => minute);
    if (fewer.length > 0)
      await transaction.all("DELETE FROM minute_count WHERE minute = ANY($1::bigint[]) AND calls = 0", [fewer]);
  }

  #changeDay({ day, size }: PostgresRow, by: 1 | -1): void {
    const before = this.#days.get(day);
    this.#days.set(day, { calls: (before?.calls ?? 0) + by, bytes: (before?.bytes ?? 0) + by * size });
  }
}

function changed(counts: ReadonlyMap<number, number>): ReadonlyMap<number, number> {
  return new Map([...counts].filter(([, by]) => by !== 0));
}
