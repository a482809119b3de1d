import type { CallPage } from "../../../core/ports/call-history.ts";
import type { SqlSnapshot } from "../sql-dialect.ts";
import { isByTime, type CallRange, type RangePlan } from "./choose-ranges.ts";
import { countTimes } from "./count-times.ts";
import type { FilterScope } from "./filter-scope.ts";
import { countWindow, windowOf, type RangePage } from "./read-range.ts";

type Total = CallPage["total"];

/**
 * How many calls a filter matches: from the counts that are kept where those say it, else counted in the newest
 * `entries` of each range. If a range has more, its matches are scaled up to all its calls.
 */
export async function countScope(
  snapshot: SqlSnapshot,
  scope: FilterScope,
  plan: RangePlan,
  entries: number,
  firstPages: readonly RangePage[],
): Promise<Total> {
  const { since, until } = scope.filter;
  const isTimed = since !== undefined || until !== undefined;
  if (plan.conditions.length === 0) {
    if (!isTimed) return { value: plan.ranges.reduce((sum, { calls }) => sum + calls, 0), exact: true };
    if (isByTime(plan)) return await countTimes(snapshot, scope.bounds);
  }
  const share = isTimed ? (await countTimes(snapshot, scope.bounds)).value / scope.calls : 1;
  let value = 0;
  let exact = true;
  for (const [index, range] of plan.ranges.entries()) {
    const counted = countedByPage(firstPages[index]) ?? (await countRange(snapshot, scope, range, plan, entries));
    value += counted.complete ? counted.matches : counted.matches * Math.max(1, (range.calls * share) / entries);
    exact &&= counted.complete;
  }
  return { value: Math.round(value), exact };
}

interface RangeCount {
  readonly matches: number;
  /** Whether they are all matches of the range. */
  readonly complete: boolean;
}

/** A first page that holds all matches of its window has counted them. */
function countedByPage(page: RangePage | undefined): RangeCount | undefined {
  if (page === undefined || page.more) return undefined;
  return { matches: page.rows.length, complete: page.end === undefined };
}

async function countRange(
  snapshot: SqlSnapshot,
  { bounds }: FilterScope,
  range: CallRange,
  { conditions }: RangePlan,
  entries: number,
): Promise<RangeCount> {
  const window = await windowOf(snapshot, range, bounds, entries);
  return { matches: await countWindow(snapshot, range, window, conditions), complete: window.end === undefined };
}
