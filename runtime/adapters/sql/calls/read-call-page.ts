import type { CallListQuery, CallPage, CallPlace } from "../../../core/ports/call-history.ts";
import type { SqlSnapshot } from "../sql-dialect.ts";
import { callIdBytes, callIdText } from "./call-id-bytes.ts";
import { chooseRanges, type RangePlan } from "./choose-ranges.ts";
import { countScope } from "./count-scope.ts";
import { boundsAfter, resolveScope, type StoredPlace } from "./filter-scope.ts";
import { listByIdPrefix } from "./list-by-id-prefix.ts";
import { comparePlaces, placeOf } from "./places.ts";
import { readWindow, windowOf, type RangePage } from "./read-range.ts";

/** Index entries that a page reads at most when its filter is tested on rows. */
export const maxPageEntries = 20_000;

/** One page of calls, newest first; a page whose filter matches rarely ends early, where the next one begins. */
export async function readCallPage(
  snapshot: SqlSnapshot,
  { filter, limit, after }: CallListQuery,
  maxEntries: number = maxPageEntries,
): Promise<CallPage> {
  const scope = await resolveScope(snapshot, filter);
  if (scope === undefined) return { rows: [], total: { value: 0, exact: true } };
  const found = await listByIdPrefix(snapshot, scope, limit, after);
  if (found !== undefined) return found;

  const plan = chooseRanges(scope, snapshot.dialect);
  const entries = entriesPerRange(plan, maxEntries);
  const place = after === undefined ? undefined : { accepted: after.accepted, id: callIdBytes(after.id) };
  const bounds = boundsAfter(scope.bounds, place);
  const pages: RangePage[] = [];
  for (const range of plan.ranges) {
    const window =
      plan.conditions.length === 0 ? { bounds, end: undefined } : await windowOf(snapshot, range, bounds, entries);
    pages.push(await readWindow(snapshot, range, window, plan.conditions, limit + 1));
  }
  const total = await countScope(snapshot, scope, plan, entries, after === undefined ? pages : []);
  return { ...mergePages(pages, limit), total };
}

/** A page's entries are shared by its ranges. */
function entriesPerRange({ ranges }: RangePlan, maxEntries: number): number {
  return Math.max(1, Math.floor(maxEntries / Math.max(1, ranges.length)));
}

/**
 * The newest rows of all ranges. Below the highest end of a window the range may have matches that were not read, so
 * the page ends there.
 */
function mergePages(pages: readonly RangePage[], limit: number): Pick<CallPage, "rows" | "next"> {
  const end = pages.flatMap((page) => page.end ?? []).reduce<CallPlace | undefined>(higher, undefined);
  const rows = pages
    .flatMap((page) => page.rows)
    .filter((row) => end === undefined || comparePlaces(row, end) <= 0)
    .toSorted(comparePlaces);
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  const next = last === undefined ? end : placeOf(last);
  return { rows: rows.slice(0, limit), ...(next === undefined ? {} : { next }) };
}

function higher(one: CallPlace | undefined, { accepted, id }: StoredPlace): CallPlace {
  const other = { accepted, id: callIdText(id) };
  return one === undefined || comparePlaces(other, one) < 0 ? other : one;
}
