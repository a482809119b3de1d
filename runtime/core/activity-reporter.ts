import type { Activity, ActivityDelta, WorkerReport } from "./ports/activity.ts";

/** Running totals of one function in this process. */
export interface ActivityTotals {
  readonly finished: number;
  readonly inFlight: number;
}

/** Milliseconds between two reports of one process. */
export const reportPeriod = 1_000;
/** How soon others hear that a queue-worker took a call or became free. */
const quickPeriod = 250;

/**
 * Publishes once a second what changed in this process since the last report, and what is in flight whether it changed
 * or not, so that who listens only now hears of long runs; also when there is nothing to say, so that silence means
 * something. `source` names the process. With `worker` it also says what this queue-worker does, soon after it changed
 * too, and at the end that it has no slots any more. The returned function reports a last time and ends it.
 */
export function reportActivity(
  activity: Activity,
  source: string,
  totals: () => Iterable<readonly [key: string, totals: ActivityTotals]>,
  worker?: () => WorkerReport,
): () => void {
  const changes = new ActivityChanges();
  let said: WorkerReport | undefined;
  let number = 0;
  const report = (own = worker?.(), last?: boolean): void => {
    said = own;
    number += 1;
    activity.publish({
      source,
      number,
      deltas: changes.since(totals()),
      ...(own === undefined ? {} : { worker: own }),
      ...(last === undefined ? {} : { last }),
    });
  };
  const timer = setInterval(() => report(), reportPeriod);
  const quick =
    worker === undefined
      ? undefined
      : setInterval(() => {
          const own = worker();
          if (own.running !== said?.running || own.slots !== said.slots) report(own);
        }, quickPeriod);
  return () => {
    clearInterval(timer);
    clearInterval(quick);
    const last = worker?.();
    report(last === undefined ? undefined : { queue: last.queue, slots: 0, running: 0 }, true);
  };
}

/** Remembers what was reported, of functions that there still are. */
class ActivityChanges {
  #reported = new Map<string, ActivityTotals>();

  since(totals: Iterable<readonly [key: string, totals: ActivityTotals]>): ActivityDelta[] {
    const deltas: ActivityDelta[] = [];
    const reported = new Map<string, ActivityTotals>();
    for (const [key, { finished, inFlight }] of totals) {
      const known = this.#reported.get(key);
      const unchanged = known?.finished === finished && known.inFlight === inFlight;
      reported.set(key, unchanged ? known : { finished, inFlight });
      if (inFlight === 0 && unchanged) continue;
      // A function that was removed and made again is counted anew.
      const before = known === undefined || known.finished > finished ? 0 : known.finished;
      deltas.push({ function: key, finished: finished - before, inFlight });
    }
    this.#reported = reported;
    return deltas;
  }
}

/** Adds up what other processes report of each function; `own` is the source that is left out. */
export class ActivitySums {
  readonly #finished = new Map<string, number>();
  readonly #end: () => void;

  constructor(activity: Activity, own: string) {
    this.#end = activity.subscribe(({ source, deltas }) => {
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

  /** The function is gone for good. */
  forget(key: string): void {
    this.#finished.delete(key);
  }

  close(): void {
    this.#end();
  }
}
