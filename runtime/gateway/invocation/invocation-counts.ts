const firstStatus = 200;
const lastStatus = 599;

/** Upper bounds of the duration buckets in milliseconds: 1, 2, 4 … 2^17 (131 s); one more holds the rest. */
export const durationBounds: readonly number[] = Array.from({ length: 18 }, (_, power) => 2 ** power);

/** Status under which a call counts whose client left before the reply's head. */
export const clientLeftStatus = 499;

/** What this process saw of one function; all of it only grows, but `inFlight`. */
export class FunctionCounts {
  /** Calls under way, those waiting for a replica too. */
  inFlight = 0;
  /** Calls that ended. */
  finished = 0;
  /** Sum of their milliseconds. */
  duration = 0;
  /** Calls per bucket of `durationBounds`, and one beyond. */
  readonly durations = new Float64Array(durationBounds.length + 1);
  readonly #byStatus = new Float64Array(lastStatus - firstStatus + 1);

  begin(): void {
    this.inFlight += 1;
  }

  /** A call that began has ended with `status` after `duration` milliseconds. */
  finish(status: number, duration: number): void {
    this.inFlight -= 1;
    this.finished += 1;
    this.duration += duration;
    const bucket = duration <= 1 ? 0 : Math.min(32 - Math.clz32(Math.ceil(duration) - 1), durationBounds.length);
    this.durations[bucket] = (this.durations[bucket] ?? 0) + 1;
    const cell = status - firstStatus;
    this.#byStatus[cell] = (this.#byStatus[cell] ?? 0) + 1;
  }

  /** Calls that ended, by status, those that occurred only. */
  *byStatus(): Generator<[status: number, calls: number]> {
    for (const [cell, calls] of this.#byStatus.entries()) {
      if (calls > 0) yield [cell + firstStatus, calls];
    }
  }
}

/** What this process saw of each function, by `<name>.<namespace>`: for metrics, activity and `invocationCount`. */
export class InvocationCounts {
  readonly #counts = new Map<string, FunctionCounts>();

  /** The counts of one function; begins at zero. */
  of(key: string): FunctionCounts {
    let counts = this.#counts.get(key);
    if (counts === undefined) {
      counts = new FunctionCounts();
      this.#counts.set(key, counts);
    }
    return counts;
  }

  /** Calls of the function that ended, 0 if it was never called. */
  finished(key: string): number {
    return this.#counts.get(key)?.finished ?? 0;
  }

  entries(): Iterable<[key: string, counts: FunctionCounts]> {
    return this.#counts.entries();
  }

  /** The function is gone for good. */
  forget(key: string): void {
    this.#counts.delete(key);
  }
}
