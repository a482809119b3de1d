/** Upper bounds of the duration buckets in milliseconds: 1, 2, 4 … 2^17 (131 s); one more bucket holds the rest. */
export const durationBounds: readonly number[] = Array.from({ length: 18 }, (_, power) => 2 ** power);

/** How many of something there were and how long they took; all values only grow. */
export class DurationHistogram {
  count = 0;
  /** Milliseconds. */
  sum = 0;
  /** How many fell between two bounds, and how many beyond the last. */
  readonly buckets: number[] = Array.from({ length: durationBounds.length + 1 }, () => 0);

  /** Adds one that took `duration` milliseconds. */
  add(duration: number): void {
    this.count += 1;
    this.sum += duration;
    const bucket = duration <= 1 ? 0 : Math.min(32 - Math.clz32(Math.ceil(duration) - 1), durationBounds.length);
    this.buckets[bucket] = (this.buckets[bucket] ?? 0) + 1;
  }

  /** Adds all of another histogram. */
  addAll({ count, sum, buckets }: DurationHistogram): void {
    this.count += count;
    this.sum += sum;
    for (const [index, more] of buckets.entries()) this.buckets[index] = (this.buckets[index] ?? 0) + more;
  }
}

/** Durations by HTTP status; holds those that occurred. */
export class StatusDurations {
  readonly #byStatus = new Map<number, DurationHistogram>();
  /** The histogram of the last status, cached because the next one is mostly the same. */
  #last: DurationHistogram | undefined;
  #lastStatus = 0;

  /** Adds one that ended with `status` after `duration` milliseconds. */
  add(status: number, duration: number): void {
    if (this.#last === undefined || this.#lastStatus !== status) {
      this.#last = this.#byStatus.get(status) ?? new DurationHistogram();
      this.#lastStatus = status;
      this.#byStatus.set(status, this.#last);
    }
    this.#last.add(duration);
  }

  entries(): Iterable<[status: number, durations: DurationHistogram]> {
    return this.#byStatus;
  }
}
