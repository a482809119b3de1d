import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import { DurationCells } from "../../../core/history/rollups/duration-cells.ts";
import type { RollupPoint, Scaling } from "../../../core/history/rollups/rollup.ts";

/** A value, and the begin of the 10 s that it is of, milliseconds from the begin of the interval. */
type Gauge = readonly [offset: number, value: number];

/** What one process counted in one interval of any step, under short names. */
export interface StoredRollup {
  readonly c?: readonly number[];
  readonly s?: number;
  readonly d?: readonly number[];
  readonly r?: Gauge;
  readonly f?: Gauge;
  readonly q?: Gauge;
  readonly g?: readonly Scaling[];
}

/** Scalings that an interval keeps, the last ones. */
const maxScalings = 100;

/**
 * A stored interval with one more point, in any order. Counts add up; a gauge is that of the last point, and that of
 * points of one time adds up: they are of different functions.
 */
export function withPoint(stored: StoredRollup, point: RollupPoint, begin: number): StoredRollup {
  const { calls, coldStarts, durations, replicas, inFlight, queued, scalings } = point;
  const offset = point.at - begin;
  return {
    ...stored,
    ...(calls === undefined ? {} : { c: addedCounts(stored.c ?? [], calls) }),
    ...(coldStarts === undefined ? {} : { s: (stored.s ?? 0) + coldStarts }),
    ...(durations === undefined ? {} : { d: addedDurations(stored.d ?? [], durations) }),
    ...(replicas === undefined ? {} : { r: laterGauge(stored.r, [offset, replicas]) }),
    ...(inFlight === undefined ? {} : { f: laterGauge(stored.f, [offset, inFlight]) }),
    ...(queued === undefined ? {} : { q: laterGauge(stored.q, [offset, queued]) }),
    ...(scalings === undefined ? {} : { g: lastScalings([...(stored.g ?? []), ...scalings]) }),
  };
}

/** All calls of an interval. */
export function callsIn({ c = [] }: StoredRollup): number {
  return c.reduce((sum, count) => sum + count, 0);
}

/** A stored interval as points: one, unless its gauges are of different times. */
export function storedPoints(
  stored: StoredRollup,
  begin: number,
  source: string,
  { namespace, name }: FunctionRef,
): readonly RollupPoint[] {
  const { r, f, q } = stored;
  const offset = r?.[0] ?? f?.[0] ?? q?.[0] ?? 0;
  // A response is made of tens of thousands of these: each is written once, without copies.
  const first: Record<string, unknown> = { namespace, name, source, at: begin + offset };
  if (stored.c !== undefined) first["calls"] = stored.c;
  if (stored.s !== undefined) first["coldStarts"] = stored.s;
  if (stored.d !== undefined) first["durations"] = stored.d;
  if (stored.g !== undefined) first["scalings"] = stored.g;
  const points = [first as unknown as RollupPoint];
  for (const [member, gauge] of [
    ["replicas", r],
    ["inFlight", f],
    ["queued", q],
  ] as const)
    if (gauge?.[0] === offset) first[member] = gauge[1];
    else if (gauge !== undefined) points.push({ namespace, name, source, at: begin + gauge[0], [member]: gauge[1] });
  return points;
}

function addedCounts(one: readonly number[], other: readonly number[]): readonly number[] {
  return Array.from({ length: 5 }, (_, index) => (one[index] ?? 0) + (other[index] ?? 0));
}

function addedDurations(one: readonly number[], other: readonly number[]): readonly number[] {
  const cells = new DurationCells();
  cells.add(one);
  cells.add(other);
  return cells.sparse();
}

function laterGauge(known: Gauge | undefined, gauge: Gauge): Gauge {
  if (known === undefined || gauge[0] > known[0]) return gauge;
  return gauge[0] === known[0] ? [gauge[0], known[1] + gauge[1]] : known;
}

function lastScalings(scalings: readonly Scaling[]): readonly Scaling[] {
  return scalings.toSorted((one, other) => one.at - other.at).slice(-maxScalings);
}
