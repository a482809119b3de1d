import type { Activity, ActivityDelta, WorkerReport } from "../ports/activity.ts";

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
  readonly #reported = new Map<string, Reported>();
  #round = 0;

  since(totals: Iterable<readonly [key: string, totals: ActivityTotals]>): ActivityDelta[] {
    const deltas: ActivityDelta[] = [];
    this.#round += 1;
    let count = 0;
    for (const [key, { finished, inFlight }] of totals) {
      count += 1;
      const known = this.#known(key);
      const unchanged = known.finished === finished && known.inFlight === inFlight;
      // A function that was removed and made again is counted anew.
      const before = known.finished > finished ? 0 : known.finished;
      known.finished = finished;
      known.inFlight = inFlight;
      known.round = this.#round;
      if (inFlight !== 0 || !unchanged) deltas.push({ function: key, finished: finished - before, inFlight });
    }
    if (this.#reported.size > count) this.#forget();
    return deltas;
  }

  #known(key: string): Reported {
    let known = this.#reported.get(key);
    // One that was never reported differs from all that can be said of it.
    if (known === undefined) this.#reported.set(key, (known = { finished: 0, inFlight: -1, round: 0 }));
    return known;
  }

  /** Of functions that are gone. */
  #forget(): void {
    for (const [key, { round }] of this.#reported) if (round !== this.#round) this.#reported.delete(key);
  }
}

/** What was said of a function, and in which report it was there last. */
interface Reported {
  finished: number;
  inFlight: number;
  round: number;
}

/** Adds up what other processes report of each function; `own` is the source that is left out. */
export class ActivitySums {
  readonly #finished = new Map<string, number>();
  readonly #end: () => void;

  constructor(activity: Activity, own: string) {
    this.#end = activity.subscribe(({ deltas }) => {
      for (const delta of deltas) {
        this.#finished.set(delta.function, (this.#finished.get(delta.function) ?? 0) + delta.finished);
      }
    }, own);
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
