import type { CallRow } from "../../../core/history/history-row.ts";
import type { SqlDialect, SqlRecord, SqlSnapshot } from "../sql-dialect.ts";
import { joinSql, sql, type SqlText } from "../sql-text.ts";
import { callRowOf, rowColumns, rowTables } from "./call-columns.ts";
import type { PlaceBounds, StoredPlace } from "./filter-scope.ts";
import type { CallRange } from "./choose-ranges.ts";

/** The newest calls of a range, as many index entries as may be read of it. */
export interface RangeWindow {
  readonly bounds: PlaceBounds;
  /** The last entry in it; undefined if no entry lies below it. */
  readonly end: StoredPlace | undefined;
}

/** What was found in the window of a range. */
export interface RangePage {
  readonly rows: readonly CallRow[];
  readonly end: StoredPlace | undefined;
  /** Whether the window may hold more matches than rows were asked for. */
  readonly more: boolean;
}

/** The window of at most `entries` below the upper bound; the index alone is read. */
export async function windowOf(
  snapshot: SqlSnapshot,
  range: CallRange,
  bounds: PlaceBounds,
  entries: number,
): Promise<RangeWindow> {
  const [end, below] = await snapshot.all(
    sql`SELECT c.accepted, c.id ${from(snapshot, range)} WHERE ${within(snapshot, range, bounds)}
        ORDER BY ${newestFirst(snapshot, range)} LIMIT 2 OFFSET ${entries - 1}`,
  );
  if (end === undefined || below === undefined) return { bounds, end: undefined };
  const place = storedPlaceOf(end);
  return { bounds: { ...bounds, lower: place }, end: place };
}

/** The first rows of a window that meet the conditions, newest first. */
export async function readWindow(
  snapshot: SqlSnapshot,
  range: CallRange,
  { bounds, end }: RangeWindow,
  conditions: readonly SqlText[],
  limit: number,
): Promise<RangePage> {
  const records = await snapshot.all(
    sql`SELECT ${rowColumns} ${from(snapshot, range)} ${rowTables} WHERE ${within(snapshot, range, bounds, conditions)}
        ORDER BY ${newestFirst(snapshot, range)} LIMIT ${limit}`,
  );
  return { rows: records.map(callRowOf), end, more: records.length === limit };
}

/** How many rows of a window meet the conditions. */
export async function countWindow(
  snapshot: SqlSnapshot,
  range: CallRange,
  { bounds }: RangeWindow,
  conditions: readonly SqlText[],
): Promise<number> {
  const calls = sql`${from(snapshot, range)} WHERE ${within(snapshot, range, bounds, conditions)}`;
  const [record] = await snapshot.all(
    snapshot.dialect.choosesIndexes
      ? sql`SELECT count(*) AS calls FROM (SELECT c.id ${calls} ORDER BY ${newestFirst(snapshot, range)}) AS w`
      : sql`SELECT count(*) AS calls ${calls}`,
  );
  return Number(record?.["calls"]);
}

function from({ dialect }: SqlSnapshot, { index }: CallRange): SqlText {
  return sql`FROM call AS c ${dialect.usingIndex(index)}`;
}

function within(
  { dialect }: SqlSnapshot,
  { first, holds }: CallRange,
  bounds: PlaceBounds,
  conditions: readonly SqlText[] = [],
): SqlText {
  const held = holds === undefined ? [] : [holds];
  if (first === undefined) return joinSql([...held, ...boundConditions(dialect, bounds), ...conditions], " AND ");
  const { column, value } = first;
  if (!dialect.choosesIndexes) {
    const one = sql`${column} = ${value}`;
    return joinSql([one, ...held, ...boundConditions(dialect, bounds), ...conditions], " AND ");
  }
  const { lower, upper } = bounds;
  const all = [
    sql`(${column}, c.accepted, c.id) >= (${value}, ${lower.accepted}, ${lower.id})`,
    sql`(${column}, c.accepted, c.id) < (${value}, ${upper.accepted}, ${upper.id})`,
    ...dialect.partitionsOf(lower.accepted, upper.accepted),
    ...held,
    ...conditions,
  ];
  return joinSql(all, " AND ");
}

/** Its first column has one value, and yet no other index has this order. */
function newestFirst({ dialect }: SqlSnapshot, { first }: CallRange): SqlText {
  const places = sql`c.accepted DESC, c.id DESC`;
  return first === undefined || !dialect.choosesIndexes ? places : sql`${first.column} DESC, ${places}`;
}

/** Row values, as the index sorts them. */
export function boundConditions(dialect: SqlDialect, { lower, upper }: PlaceBounds): readonly SqlText[] {
  return [
    sql`(c.accepted, c.id) >= (${lower.accepted}, ${lower.id})`,
    sql`(c.accepted, c.id) < (${upper.accepted}, ${upper.id})`,
    ...dialect.partitionsOf(lower.accepted, upper.accepted),
  ];
}

function storedPlaceOf(record: SqlRecord): StoredPlace {
  return { accepted: Number(record["accepted"]), id: record["id"] as Uint8Array };
}
