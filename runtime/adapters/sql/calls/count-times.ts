import type { CallPage } from "../../../core/ports/call-history.ts";
import type { SqlSnapshot } from "../sql-dialect.ts";
import { sql } from "../sql-text.ts";
import { timeBounds, type PlaceBounds } from "./filter-scope.ts";
import { timeRange } from "./choose-ranges.ts";
import { countWindow } from "./read-range.ts";

/** Counts are kept per minute of acceptance. */
export const countedMinute = 60_000;
/** Calls of a minute up to which a part of it is counted; of a busier one it is estimated. */
const maxCounted = 10_000;

type Total = CallPage["total"];

/** How many calls were accepted between two times, by the counts of whole minutes and the calls at their edges. */
export async function countTimes(snapshot: SqlSnapshot, { lower, upper }: PlaceBounds): Promise<Total> {
  const [since, until] = [lower.accepted, upper.accepted];
  const [first, last] = [Math.ceil(since / countedMinute), Math.floor(until / countedMinute)];
  if (first > last) return await countPart(snapshot, since, until);
  const before = await countPart(snapshot, since, first * countedMinute);
  const after = await countPart(snapshot, last * countedMinute, until);
  const whole = await countMinutes(snapshot, first, last);
  return { value: before.value + whole + after.value, exact: before.exact && after.exact };
}

/** Minutes from `first`, inclusive, to `last`, exclusive. */
async function countMinutes(snapshot: SqlSnapshot, first: number, last: number): Promise<number> {
  const [record] = await snapshot.all(
    sql`SELECT coalesce(sum(calls), 0) AS calls FROM minute_count WHERE minute >= ${first} AND minute < ${last}`,
  );
  return Number(record?.["calls"]);
}

/** Of times within one minute. */
async function countPart(snapshot: SqlSnapshot, since: number, until: number): Promise<Total> {
  if (since >= until) return { value: 0, exact: true };
  const minute = Math.floor(since / countedMinute);
  const calls = await countMinutes(snapshot, minute, minute + 1);
  if (calls === 0) return { value: 0, exact: true };
  if (calls > maxCounted) return { value: Math.round((calls * (until - since)) / countedMinute), exact: false };
  const window = { bounds: timeBounds(since, until), end: undefined };
  return { value: await countWindow(snapshot, timeRange(calls), window, []), exact: true };
}
