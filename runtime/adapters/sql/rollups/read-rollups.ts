import { formatRef, type FunctionRef } from "../../../core/functions/function-ref.ts";
import { rollupSeries } from "../../../core/history/rollups/rollup-series.ts";
import { rollupSteps, type RollupPoint, type RollupSeries } from "../../../core/history/rollups/rollup.ts";
import type { RollupQuery } from "../../../core/ports/call-history.ts";
import type { SqlSnapshot } from "../sql-dialect.ts";
import { sql } from "../sql-text.ts";
import { allFunctions, rollupStepCode } from "./rollup-codes.ts";
import { storedPoints, type StoredRollup } from "./stored-rollup.ts";

/** Intervals that are read function by function at most; of more, what is stored of all together is read. */
const maxIntervals = 50_000;

interface NamedFunction extends FunctionRef {
  readonly id: number;
}

/** The series of the functions asked for. */
export async function readRollups(snapshot: SqlSnapshot, query: RollupQuery): Promise<readonly RollupSeries[]> {
  const stored = await storedFunctions(snapshot);
  if (query.summed !== true && query.top === undefined) return await readEach(snapshot, stored, query);
  const asked = new Set(query.functions.map(formatRef));
  const functions = stored.filter((one) => asked.has(formatRef(one)));
  const intervals = (query.until - query.since) / rollupSteps[query.step].length;
  const isLarge = functions.length * intervals > maxIntervals;
  if (query.summed === true && isLarge && functions.length === stored.length) {
    const all = { id: allFunctions, namespace: "", name: "" };
    return rollupSeries(await pointsOf(snapshot, [all], query), { ...query, functions: [all] });
  }
  const chosen =
    query.top !== undefined && query.summed !== true && isLarge
      ? await mostCalled(snapshot, functions, query, query.top)
      : functions;
  return rollupSeries(await pointsOf(snapshot, chosen, query), query);
}

/** One function after the other: what was read of one is garbage before the next one is read. */
async function readEach(
  snapshot: SqlSnapshot,
  stored: readonly NamedFunction[],
  query: RollupQuery,
): Promise<readonly RollupSeries[]> {
  const byRef = new Map(stored.map((one) => [formatRef(one), one]));
  const series: RollupSeries[] = [];
  for (const ref of query.functions) {
    const one = byRef.get(formatRef(ref));
    const points = one === undefined ? [] : await pointsOf(snapshot, [one], query);
    series.push(...rollupSeries(points, { ...query, functions: [ref] }));
  }
  return series;
}

async function storedFunctions(snapshot: SqlSnapshot): Promise<readonly NamedFunction[]> {
  const records = await snapshot.all(sql`SELECT id, namespace, name FROM function`);
  return records.map(({ id, namespace, name }) => ({
    id: Number(id),
    namespace: String(namespace),
    name: String(name),
  }));
}

/** The functions with most calls in the time of a query, so many that equal ones can be told apart by their names. */
async function mostCalled(
  snapshot: SqlSnapshot,
  functions: readonly NamedFunction[],
  { step, since, until }: RollupQuery,
  top: number,
): Promise<readonly NamedFunction[]> {
  const records = await snapshot.all(
    sql`SELECT f.id, (SELECT sum(r.calls) FROM rollup AS r WHERE r.step = ${rollupStepCode[step]} AND r.fn = f.id
          AND r.at >= ${since} AND r.at < ${until}) AS calls FROM function AS f`,
  );
  const calls = new Map(records.map((record) => [Number(record["id"]), Number(record["calls"])]));
  const sorted = functions.toSorted((one, other) => (calls.get(other.id) ?? 0) - (calls.get(one.id) ?? 0));
  const least = calls.get(sorted[top - 1]?.id ?? allFunctions) ?? 0;
  return sorted.filter(({ id }) => (calls.get(id) ?? 0) >= Math.max(1, least));
}

async function pointsOf(
  snapshot: SqlSnapshot,
  functions: readonly NamedFunction[],
  { step, since, until }: RollupQuery,
): Promise<readonly RollupPoint[]> {
  const points: RollupPoint[] = [];
  for (const one of functions) {
    const records = await snapshot.all(
      // Points of several sources are told apart by its number, too: to look up each name takes longer than all else.
      sql`SELECT r.at, r.counts, r.source FROM rollup AS r
          WHERE r.step = ${rollupStepCode[step]} AND r.fn = ${one.id} AND r.at >= ${since} AND r.at < ${until}`,
    );
    for (const { at, counts, source } of records) {
      const stored: StoredRollup = JSON.parse(String(counts));
      points.push(...storedPoints(stored, Number(at), String(source), one));
    }
  }
  return points;
}
