import type { CallPage, CallPlace } from "../../../core/ports/call-history.ts";
import type { SqlSnapshot } from "../sql-dialect.ts";
import { joinSql, sql } from "../sql-text.ts";
import { callRowOf, rowColumns, rowTables } from "./call-columns.ts";
import type { FilterScope } from "./filter-scope.ts";
import { conditionsOf, idCondition, idIndex } from "./choose-ranges.ts";
import { comparePlaces, placeOf } from "./places.ts";
import { boundConditions } from "./read-range.ts";

/** Calls that are read and sorted for one page; of millions of random ids fewer begin with the same four digits. */
const maxMatches = 2_000;

/** A page of the calls whose ids begin alike; undefined without such a filter, and if too many do. */
export async function listByIdPrefix(
  snapshot: SqlSnapshot,
  scope: FilterScope,
  limit: number,
  after: CallPlace | undefined,
): Promise<CallPage | undefined> {
  const { idPrefix } = scope.filter;
  if (idPrefix === undefined) return undefined;
  const prefix = idCondition(idPrefix);
  const from = sql`FROM call AS c ${snapshot.dialect.usingIndex(idIndex)}`;
  const tooMany = await snapshot.all(
    sql`SELECT c.id ${from} WHERE ${prefix} ORDER BY c.id LIMIT 1 OFFSET ${maxMatches}`,
  );
  if (tooMany.length > 0) return undefined;

  const { dialect } = snapshot;
  const conditions = [prefix, ...boundConditions(dialect, scope.bounds), ...conditionsOf(scope, dialect, "id")];
  const records = await snapshot.all(
    sql`SELECT ${rowColumns} ${from} ${rowTables} WHERE ${joinSql(conditions, " AND ")} ORDER BY c.id`,
  );
  const all = records.map(callRowOf).toSorted(comparePlaces);
  const rows = after === undefined ? all : all.filter((row) => comparePlaces(row, after) > 0);
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return {
    rows: rows.slice(0, limit),
    ...(last === undefined ? {} : { next: placeOf(last) }),
    total: { value: all.length, exact: true },
  };
}
