import type { RollupSeries } from "./rollup.ts";

/** When a series begins, Unix milliseconds, and how long each of its intervals is. */
export interface SeriesTimes {
  readonly since: number;
  readonly length: number;
}

/**
 * A series with 0 calls in intervals in which the function was idle: calls were counted then, as the series of `presence`
 * says, and it was there, from `deployedAt` (Unix milliseconds), or at least from its first to its last figure.
 */
export function withIdle(
  series: RollupSeries,
  counted: RollupSeries,
  { since, length }: SeriesTimes,
  deployedAt = Number.POSITIVE_INFINITY,
): RollupSeries {
  const seen = series.calls.map((_, index) => hasFigure(series, index));
  const [first, last] = [seen.indexOf(true), seen.lastIndexOf(true)];
  const isIdle = series.calls.map((calls, index) => {
    if (calls !== null || (counted.calls[index] ?? null) === null) return false;
    return (index >= first && index <= last) || since + (index + 1) * length > deployedAt;
  });
  const filled = (column: readonly (number | null)[]): readonly (number | null)[] =>
    column.map((value, index) => (isIdle[index] === true ? (value ?? 0) : value));
  return {
    ...series,
    calls: filled(series.calls),
    errors: filled(series.errors),
    coldStarts: filled(series.coldStarts),
    inFlight: filled(series.inFlight),
  };
}

function hasFigure({ calls, replicas, queued }: RollupSeries, index: number): boolean {
  return [calls, replicas, queued].some((column) => (column[index] ?? null) !== null);
}
