import type { Activity, ActivityDelta } from "./ports/activity.ts";

/** Running totals of one function in this process. */
export interface ActivityTotals {
  readonly finished: number;
  readonly inFlight: number;
}

const period = 1_000;

/**
 * Publishes once a second what changed in this process since the last report, and what is in flight whether it changed
 * or not, so that who listens only now hears of long runs. `source` names the process.
 * The returned function reports a last time and ends it.
 */
export function reportActivity(
  activity: Activity,
  source: string,
  totals: () => Iterable<readonly [key: string, totals: ActivityTotals]>,
): () => void {
  const reported = new Map<string, ActivityTotals>();
  const report = (): void => {
    const deltas: ActivityDelta[] = [];
    for (const [key, { finished, inFlight }] of totals()) {
      const last = reported.get(key);
      if (inFlight === 0 && last?.finished === finished && last.inFlight === 0) continue;
      deltas.push({ function: key, finished: finished - (last?.finished ?? 0), inFlight });
      reported.set(key, { finished, inFlight });
    }
    if (deltas.length > 0) activity.publish(source, deltas);
  };
  const timer = setInterval(report, period);
  return () => {
    clearInterval(timer);
    report();
  };
}

/** Adds up what other processes report of each function; `own` is the source that is left out. */
export class ActivitySums {
  readonly #finished = new Map<string, number>();
  readonly #end: () => void;

  constructor(activity: Activity, own: string) {
    this.#end = activity.subscribe((source, deltas) => {
      if (source === own) return;
      for (const delta of deltas) {
        this.#finished.set(delta.function, (this.#finished.get(delta.function) ?? 0) + delta.finished);
      }
    });
  }

  /** Calls of `<name>.<namespace>` that ended elsewhere, as far as heard. */
  finished(key: string): number {
    return this.#finished.get(key) ?? 0;
  }

  close(): void {
    this.#end();
  }
}
