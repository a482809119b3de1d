import { CallTotals } from "./call-totals.ts";
import { StatusDurations, type DurationHistogram } from "./duration-histogram.ts";

/** Counts ended calls of one function. */
export interface EndedCallCounter {
  add(status: number, duration: number, isCold: boolean): void;
}

/** The counts of one function in this process; all but `inFlight` only grow. */
export class FunctionCounts extends CallTotals {
  /** Of the calls that ended, those with a status of 500 or more. */
  failed = 0;
  /** Ended calls by status. */
  readonly ended = new StatusDurations();
  readonly #also: EndedCallCounter | undefined;

  /** `also` counts the same ended calls. */
  constructor(also?: EndedCallCounter) {
    super();
    this.#also = also;
  }

  /**
   * A call that began has ended with `status` after `duration` milliseconds; `isCold`: it waited for a replica;
   * `isWhole` as for `end`.
   */
  finish(now: number, status: number, duration: number, isCold = false, isWhole = true): void {
    this.end(now, isWhole);
    if (status >= 500) this.failed += 1;
    this.ended.add(status, duration);
    this.#also?.add(status, duration, isCold);
  }
}

/** The ended calls of one function and status, with the labels of their metrics. */
export type EndedCalls = [labels: { function_name: string; code: string }, durations: DurationHistogram];

/**
 * The counts of each function in this process, by `<name>.<namespace>`: for metrics, activity and `invocationCount`.
 */
export class InvocationCounts {
  readonly #counts = new Map<string, FunctionCounts>();
  readonly #counterOf: ((key: string) => EndedCallCounter) | undefined;

  /** `counterOf` returns what counts the same ended calls of a function. */
  constructor(counterOf?: (key: string) => EndedCallCounter) {
    this.#counterOf = counterOf;
  }

  /** The counts of one function; begins at zero. */
  of(key: string): FunctionCounts {
    let counts = this.#counts.get(key);
    if (counts === undefined) {
      counts = new FunctionCounts(this.#counterOf?.(key));
      this.#counts.set(key, counts);
    }
    return counts;
  }

  /** The counts of one function; undefined if it was never called. */
  find(key: string): FunctionCounts | undefined {
    return this.#counts.get(key);
  }

  /** Calls of the function that ended, 0 if it was never called. */
  finished(key: string): number {
    return this.#counts.get(key)?.finished ?? 0;
  }

  /** Calls of all functions in flight, including those that wait for a replica. */
  get inFlight(): number {
    return this.#counts.values().reduce((sum, { inFlight }) => sum + inFlight, 0);
  }

  entries(): Iterable<[key: string, counts: FunctionCounts]> {
    return this.#counts.entries();
  }

  /** Ended calls by function and status. */
  *ended(): Generator<EndedCalls> {
    for (const [key, { ended }] of this.#counts) {
      for (const [status, durations] of ended.entries())
        yield [{ function_name: key, code: String(status) }, durations];
    }
  }

  /** Drops the counts of a function that was removed. */
  forget(key: string): void {
    this.#counts.delete(key);
  }
}
