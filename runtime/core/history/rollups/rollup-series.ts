import { formatRef, type FunctionRef } from "../../functions/function-ref.ts";
import type { RollupQuery } from "../../ports/call-history.ts";
import { DurationCells } from "./duration-cells.ts";
import { rollupSteps, type RollupPoint, type RollupSeries, type Scaling } from "./rollup.ts";

/** A value and the time that it is of. */
interface Known {
  at: number;
  value: number;
}

/** A count as of the end of an interval, by who knows it; mostly one does. */
class Gauge implements Known {
  at = Number.NEGATIVE_INFINITY;
  value = 0;
  #key: string | undefined;
  #others: Map<string, Known> | undefined;

  add(key: string, at: number, value: number): void {
    this.#key ??= key;
    if (key === this.#key) {
      update(this, at, value);
      return;
    }
    this.#others ??= new Map();
    const known = this.#others.get(key);
    if (known === undefined) this.#others.set(key, { at, value });
    else update(known, at, value);
  }

  get sum(): number {
    return this.#others?.values().reduce((total, { value }) => total + value, this.value) ?? this.value;
  }
}

/** Of two values of one time the larger one is kept, so that their order does not matter. */
function update(known: Known, at: number, value: number): void {
  if (at < known.at || (at === known.at && value <= known.value)) return;
  known.at = at;
  known.value = value;
}

/** What is known of one function, or of all, in one interval; thousands of these are made for a response. */
class Interval {
  calls: number | null = null;
  errors: number | null = null;
  coldStarts: number | null = null;
  #durations: DurationCells | undefined;
  #replicas: Gauge | undefined;
  #inFlight: Gauge | undefined;
  #queued: Gauge | undefined;

  add(point: RollupPoint, { key, sourceKey }: PointKeys): void {
    const { at, calls, coldStarts, durations, replicas, inFlight, queued } = point;
    if (calls !== undefined) {
      this.calls = (this.calls ?? 0) + sumOf(calls);
      this.errors = (this.errors ?? 0) + (calls[4] ?? 0);
    }
    if (coldStarts !== undefined) this.coldStarts = (this.coldStarts ?? 0) + coldStarts;
    if (durations !== undefined) (this.#durations ??= new DurationCells()).add(durations);
    // All processes see the same replicas and the same queue, but each only its own calls.
    if (replicas !== undefined) (this.#replicas ??= new Gauge()).add(key, at, replicas);
    if (queued !== undefined) (this.#queued ??= new Gauge()).add(key, at, queued);
    if (inFlight !== undefined) (this.#inFlight ??= new Gauge()).add(sourceKey, at, inFlight);
  }

  quantile(q: number): number | null {
    return this.#durations?.quantile(q) ?? null;
  }

  get replicas(): number | null {
    return this.#replicas?.sum ?? null;
  }

  get inFlight(): number | null {
    return this.#inFlight?.sum ?? null;
  }

  get queued(): number | null {
    return this.#queued?.sum ?? null;
  }
}

/** The function of a point, and with it the process. */
interface PointKeys {
  readonly key: string;
  readonly sourceKey: string;
}

function sumOf(counts: readonly number[]): number {
  let total = 0;
  for (const count of counts) total += count;
  return total;
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
  let last: (PointKeys & { readonly point: RollupPoint; readonly one: Gathered | undefined }) | undefined;
  for (const point of points) {
    // Tens of thousands of points mostly come by function and process: keys are made where these change.
    if (last === undefined || !isAlike(point, last.point)) {
      const key = formatRef(point);
      last = { point, one: byFunction.get(key), key, sourceKey: `${key} ${point.source}` };
    }
    if (last.one === undefined || point.at < since || point.at >= until) continue;
    gather(last.one, point, Math.floor((point.at - since) / length), last);
  }
  const chosen = top === undefined ? all : mostCalled(all, top);
  return chosen.map((one) => seriesOf(one));
}

function emptySeries({ namespace, name }: FunctionRef, count: number): Gathered {
  return { namespace, name, intervals: Array.from({ length: count }), scalings: [], calls: 0 };
}

function isAlike(point: RollupPoint, other: RollupPoint): boolean {
  return point.name === other.name && point.namespace === other.namespace && point.source === other.source;
}

function gather(one: Gathered, point: RollupPoint, index: number, keys: PointKeys): void {
  const interval = (one.intervals[index] ??= new Interval());
  interval.add(point, keys);
  if (point.calls !== undefined) one.calls += sumOf(point.calls);
  if (point.scalings !== undefined) one.scalings.push(...point.scalings);
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
    p50: column((interval) => interval.quantile(0.5)),
    p95: column((interval) => interval.quantile(0.95)),
    coldStarts: column(({ coldStarts }) => coldStarts),
    replicas: column(({ replicas }) => replicas),
    inFlight: column(({ inFlight }) => inFlight),
    queued: column(({ queued }) => queued),
    scalings: scalings.toSorted((one, other) => one.at - other.at),
  };
}
