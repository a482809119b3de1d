import { StatusDurations, type DurationHistogram } from "../../process/metrics/duration-histogram.ts";

/** Everything that no route takes, and every method but these, is one: clients must not be able to add to the metrics. */
const other = "other";
const methods: ReadonlySet<string> = new Set(["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"]);

/** Requests that ended, counted by route, method and status. */
export class RouteCounts {
  readonly #routes = new Map<string, Map<string, StatusDurations>>();

  /** A request ended with `status` after `duration` milliseconds; `path` is that of its route, undefined for none. */
  add(path: string | undefined, method: string | undefined, status: number, duration: number): void {
    const known = method !== undefined && methods.has(method) ? method : other;
    this.#of(path ?? other, known).add(status, duration);
  }

  /** What was counted. */
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
