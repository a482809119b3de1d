import { formatRef, type FunctionRef } from "../../functions/function-ref.ts";
import type { RollupQuery } from "../../ports/call-history.ts";
import { DurationCells } from "./duration-cells.ts";
import { rollupSteps, type RollupPoint, type RollupSeries, type Scaling } from "./rollup.ts";

/** A value and the time that it is of. */
type Known = readonly [at: number, value: number];

/** A count as of the end of an interval, by who knows it; mostly one does. */
class Gauge {
  #key = "";
  #known: Known | undefined;
  #others: Map<string, Known> | undefined;

  add(key: string, at: number, value: number): void {
    if (this.#known === undefined || key === this.#key) {
      this.#key = key;
      this.#known = later(this.#known, at, value);
    } else {
      this.#others ??= new Map();
      this.#others.set(key, later(this.#others.get(key), at, value));
    }
  }

  get sum(): number | null {
    if (this.#known === undefined) return null;
    return this.#others?.values().reduce((total, [, value]) => total + value, this.#known[1]) ?? this.#known[1];
  }
}

/** Of two values of one time the larger one is kept, so that their order does not matter. */
function later(known: Known | undefined, at: number, value: number): Known {
  if (known === undefined || at > known[0] || (at === known[0] && value > known[1])) return [at, value];
  return known;
}

/** What is known of one function, or of all, in one interval. */
class Interval {
  calls: number | null = null;
  errors: number | null = null;
  coldStarts: number | null = null;
  readonly durations = new DurationCells();
  readonly replicas = new Gauge();
  readonly inFlight = new Gauge();
  readonly queued = new Gauge();

  add(point: RollupPoint): void {
    const { at, source, calls, coldStarts, durations = [], replicas, inFlight, queued } = point;
    if (calls !== undefined) {
      this.calls = (this.calls ?? 0) + sumOf(calls);
      this.errors = (this.errors ?? 0) + (calls[4] ?? 0);
    }
    if (coldStarts !== undefined) this.coldStarts = (this.coldStarts ?? 0) + coldStarts;
    this.durations.add(durations);
    const key = formatRef(point);
    // All processes see the same replicas and the same queue, but each only its own calls.
    if (replicas !== undefined) this.replicas.add(key, at, replicas);
    if (queued !== undefined) this.queued.add(key, at, queued);
    if (inFlight !== undefined) this.inFlight.add(`${key} ${source}`, at, inFlight);
  }
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

interface Gathered extends FunctionRef {
  readonly intervals: (Interval | undefined)[];
  readonly scalings: Scaling[];
  calls: number;
}

/**
 * The series that a query asks for, of points of any step that is not longer than the query's. Functions come in the
 * order of the query, or by their calls if only the top ones are asked for. A function without points has a series
 * without values.
 */
export function rollupSeries(points: Iterable<RollupPoint>, query: RollupQuery): readonly RollupSeries[] {
  const { functions, since, until, summed = false, top } = query;
  const { length } = rollupSteps[query.step];
  const count = Math.ceil((until - since) / length);
  const all = (summed ? [{ namespace: "", name: "" }] : functions).map((ref) => emptySeries(ref, count));
  const byFunction = new Map(functions.map((ref, index) => [formatRef(ref), all[summed ? 0 : index]]));
  for (const point of points) {
    const one = byFunction.get(formatRef(point));
    if (one === undefined || point.at < since || point.at >= until) continue;
    gather(one, point, Math.floor((point.at - since) / length));
  }
  const chosen = top === undefined ? all : mostCalled(all, top);
  return chosen.map((one) => seriesOf(one));
}

function emptySeries({ namespace, name }: FunctionRef, count: number): Gathered {
  return { namespace, name, intervals: Array.from({ length: count }), scalings: [], calls: 0 };
}

function gather(one: Gathered, point: RollupPoint, index: number): void {
  const interval = (one.intervals[index] ??= new Interval());
  interval.add(point);
  one.calls += sumOf(point.calls ?? []);
  one.scalings.push(...(point.scalings ?? []));
}

function mostCalled(all: readonly Gathered[], top: number): readonly Gathered[] {
  return all
    .filter(({ calls }) => calls > 0)
    .toSorted((one, other) => other.calls - one.calls || (formatRef(one) < formatRef(other) ? -1 : 1))
    .slice(0, top);
}

function seriesOf({ namespace, name, intervals, scalings }: Gathered): RollupSeries {
  const column = (value: (interval: Interval) => number | null): readonly (number | null)[] =>
    intervals.map((interval) => (interval === undefined ? null : value(interval)));
  return {
    namespace,
    name,
    calls: column(({ calls }) => calls),
    errors: column(({ errors }) => errors),
    p50: column(({ durations }) => durations.quantile(0.5)),
    p95: column(({ durations }) => durations.quantile(0.95)),
    coldStarts: column(({ coldStarts }) => coldStarts),
    replicas: column(({ replicas }) => replicas.sum),
    inFlight: column(({ inFlight }) => inFlight.sum),
    queued: column(({ queued }) => queued.sum),
    scalings: scalings.toSorted((one, other) => one.at - other.at),
  };
}
