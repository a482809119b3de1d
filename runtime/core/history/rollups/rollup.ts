import type { FunctionRef } from "../../functions/function-ref.ts";

/** Length of an interval of rollups, milliseconds, and how long such intervals are kept. */
export const rollupSteps = {
  "10s": { length: 10_000, kept: 6 * 3_600_000 },
  "1m": { length: 60_000, kept: 7 * 86_400_000 },
  "1h": { length: 3_600_000, kept: 90 * 86_400_000 },
} as const;
export type RollupStep = keyof typeof rollupSteps;

/** One scaling of a function. `at` is Unix milliseconds. */
export interface Scaling {
  readonly at: number;
  readonly from: number;
  readonly to: number;
  readonly reason: string;
  readonly message: string;
}

/** What one process counted of one function within 10 s; the points of several processes add up. */
export interface RollupPoint extends FunctionRef {
  /** The process: points of one source and time are stored once. */
  readonly source: string;
  /** Begin of the interval, Unix milliseconds, a multiple of 10 000. */
  readonly at: number;
  /** Finished calls by first digit of the status: `[1xx, 2xx, 3xx, 4xx, 5xx]`. */
  readonly calls?: readonly number[];
  readonly coldStarts?: number;
  /** Counts of durations by cell (see `durationCell`), those that are not 0: `[cell, count, cell, count …]`. */
  readonly durations?: readonly number[];
  /** As of the end of the interval. Absent = not known to this process. */
  readonly replicas?: number;
  readonly inFlight?: number;
  readonly queued?: number;
  readonly scalings?: readonly Scaling[];
}

/** Rollups of one function: a member per interval; null = not known, never 0. Durations are milliseconds. */
export interface RollupSeries extends FunctionRef {
  readonly calls: readonly (number | null)[];
  readonly errors: readonly (number | null)[];
  readonly p50: readonly (number | null)[];
  readonly p95: readonly (number | null)[];
  readonly coldStarts: readonly (number | null)[];
  readonly replicas: readonly (number | null)[];
  readonly inFlight: readonly (number | null)[];
  readonly queued: readonly (number | null)[];
  readonly scalings: readonly Scaling[];
}
