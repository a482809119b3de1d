import { StatusDurations, type DurationHistogram } from "../../process/metrics/duration-histogram.ts";

/** Label for paths without a route and for methods other than these: clients must not be able to create time series. */
const other = "other";
const methods: ReadonlySet<string> = new Set(["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"]);

/** Requests that ended, counted by route, method and status. */
export class RouteCounts {
  readonly #routes = new Map<string, Map<string, StatusDurations>>();

  /**
   * Counts a request that ended with `status` after `duration` milliseconds; `path` is its route's, undefined for none.
   */
  add(path: string | undefined, method: string | undefined, status: number, duration: number): void {
    const known = method !== undefined && methods.has(method) ? method : other;
    this.#of(path ?? other, known).add(status, duration);
  }

  /** Durations of all requests counted so far. */
  *entries(): Generator<[labels: { path: string; method: string; code: string }, durations: DurationHistogram]> {
    for (const [path, byMethod] of this.#routes) {
      for (const [method, byStatus] of byMethod) {
        for (const [status, durations] of byStatus.entries()) yield [{ path, method, code: String(status) }, durations];
      }
    }
  }

  #of(path: string, method: string): StatusDurations {
    let byMethod = this.#routes.get(path);
    if (byMethod === undefined) this.#routes.set(path, (byMethod = new Map()));
    let byStatus = byMethod.get(method);
    if (byStatus === undefined) byMethod.set(method, (byStatus = new StatusDurations()));
    return byStatus;
  }
}
