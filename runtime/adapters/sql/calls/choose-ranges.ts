import type { SqlDialect } from "../sql-dialect.ts";
import { sql, type SqlText } from "../sql-text.ts";
import { kindCodes, sourceCodes, stateCodes } from "./call-codes.ts";
import { callIdRange } from "./call-id-bytes.ts";
import { statesOf, type FilterScope } from "./filter-scope.ts";

/** A range of an index that lists its calls by acceptance and id. */
export interface CallRange {
  readonly index: SqlText;
  /** The column of the index before these two, and the one value that it has in the range. */
  readonly first?: { readonly column: SqlText; readonly value: number };
  /** What the index holds only. */
  readonly holds?: SqlText;
  /** Calls in it at any time. */
  readonly calls: number;
}

/** Ranges that hold all calls of a scope, each once, and what must be tested on the rows of the ranges. */
export interface RangePlan {
  readonly ranges: readonly CallRange[];
  readonly conditions: readonly SqlText[];
}

/** More ranges than these cost more than the rows they spare. */
const maxRanges = 32;

const timeIndex = sql`call_by_time`;
const functionIndex = sql`call_by_function`;
const stateIndex = sql`call_by_state`;
export const idIndex: SqlText = sql`call_by_id`;

/** The ranges with the fewest calls; of equal ones those that leave the fewest conditions. */
export function chooseRanges(scope: FilterScope, dialect: SqlDialect): RangePlan {
  const plans = [functionPlan(scope, dialect), statePlan(scope, dialect), timePlan(scope, dialect)];
  const [first, ...others] = plans.flatMap((plan) => plan ?? []);
  if (first === undefined) return { ranges: [], conditions: [] };
  return others.reduce((best, plan) => (compare(plan, best) < 0 ? plan : best), first);
}

/** Whether the ranges are those of the index by time, which has one only. */
export function isByTime({ ranges }: RangePlan): boolean {
  return ranges[0]?.index === timeIndex;
}

function compare(one: RangePlan, other: RangePlan): number {
  return callsOf(one) - callsOf(other) || one.conditions.length - other.conditions.length;
}

function callsOf({ ranges }: RangePlan): number {
  return ranges.reduce((sum, { calls }) => sum + calls, 0);
}

/** The index of all calls, of which there are so many. */
export function timeRange(calls: number): CallRange {
  return { index: timeIndex, calls };
}

function timePlan(scope: FilterScope, dialect: SqlDialect): RangePlan {
  return { ranges: [timeRange(scope.calls)], conditions: conditionsOf(scope, dialect) };
}

function functionPlan(scope: FilterScope, dialect: SqlDialect): RangePlan | undefined {
  const { functions } = scope;
  if (functions === undefined || functions.length > maxRanges) return undefined;
  const ranges = functions.map(({ id, calls }) => ({
    index: functionIndex,
    first: { column: sql`c.fn`, value: id },
    calls,
  }));
  return { ranges, conditions: conditionsOf(scope, dialect, "functions") };
}

/** The index by state does not hold the many calls that are done. */
function statePlan(scope: FilterScope, dialect: SqlDialect): RangePlan | undefined {
  const states = statesOf(scope);
  if (states === undefined || states.has(stateCodes.code("done"))) return undefined;
  const ranges = [...states].map(([code, calls]) => ({
    index: stateIndex,
    first: { column: sql`c.state`, value: code },
    holds: sql`c.state <> 3`,
    calls,
  }));
  return { ranges, conditions: conditionsOf(scope, dialect, "states") };
}

/** Everything that a filter asks of a row, but what an index has served. */
export function conditionsOf(
  scope: FilterScope,
  dialect: SqlDialect,
  served?: "functions" | "states" | "id",
): readonly SqlText[] {
  const { filter, functions, queue } = scope;
  const { kind, statuses, reasons, sources, idPrefix } = filter;
  const states = statesOf(scope);
  const conditions: SqlText[] = [];
  if (functions !== undefined && served !== "functions")
    conditions.push(
      dialect.isOneOf(
        sql`c.fn`,
        functions.map(({ id }) => id),
      ),
    );
  if (states !== undefined && served !== "states") conditions.push(dialect.isOneOf(sql`c.state`, [...states.keys()]));
  if (idPrefix !== undefined && served !== "id") conditions.push(idCondition(idPrefix));
  if (queue !== undefined) conditions.push(sql`c.queue = ${queue}`);
  if (kind !== undefined) conditions.push(sql`c.kind = ${kindCodes.code(kind)}`);
  if (sources !== undefined)
    conditions.push(
      dialect.isOneOf(
        sql`c.source`,
        sources.map((one) => sourceCodes.code(one)),
      ),
    );
  if (reasons !== undefined) conditions.push(dialect.isOneOf(sql`c.reason`, reasons));
  if (statuses !== undefined) conditions.push(dialect.isOneOf(sql`c.status`, statusesIn(statuses)));
  return conditions;
}

export function idCondition(prefix: string): SqlText {
  const [first, last] = callIdRange(prefix);
  return sql`c.id BETWEEN ${first} AND ${last}`;
}

function statusesIn(ranges: readonly (readonly [from: number, to: number])[]): readonly number[] {
  const known = Array.from({ length: 500 }, (_, index) => index + 100);
  return known.filter((status) => ranges.some(([from, to]) => status >= from && status <= to));
}
