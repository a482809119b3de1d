/** Upper bounds of the duration buckets in milliseconds: 1, 2, 4 … 2^17 (131 s); one more holds the rest. */
export const durationBounds: readonly number[] = Array.from({ length: 18 }, (_, power) => 2 ** power);

/** How many of something there were and how long they took; all of it only grows. */
export class DurationHistogram {
  count = 0;
  /** Milliseconds. */
  sum = 0;
  /** How many fell between two bounds, and how many beyond the last. */
  readonly buckets = new Float64Array(durationBounds.length + 1);

  /** One more that took `duration` milliseconds. */
  add(duration: number): void {
    this.count += 1;
    this.sum += duration;
    const bucket = duration <= 1 ? 0 : Math.min(32 - Math.clz32(Math.ceil(duration) - 1), durationBounds.length);
    this.buckets[bucket] = (this.buckets[bucket] ?? 0) + 1;
  }
}

/** Durations by HTTP status; holds those that occurred. */
export class StatusDurations {
  readonly #byStatus = new Map<number, DurationHistogram>();

  /** One more that ended with `status` after `duration` milliseconds. */
  add(status: number, duration: number): void {
    let durations = this.#byStatus.get(status);
    if (durations === undefined) {
      durations = new DurationHistogram();
      this.#byStatus.set(status, durations);
    }
    durations.add(duration);
  }

  entries(): Iterable<[status: number, durations: DurationHistogram]> {
    return this.#byStatus;
  }
}
