import type { Activity, ActivityDelta, WorkerReport } from "../ports/activity.ts";

/** Running totals of one function in this process. */
export interface ActivityTotals {
  readonly finished: number;
  /** Of them, those with a status of 500 or more; absent: not counted. */
  readonly failed?: number;
  readonly inFlight: number;
  /** Milliseconds that all calls so far were in flight, added up; absent: not measured. */
  busyUntil?(now: number): number;
}

/** Milliseconds between two reports of one process. */
export const reportPeriod = 1_000;
/** Milliseconds within which others learn that a queue-worker claimed a call or became free. */
const quickPeriod = 250;

/**
 * Publishes once a second what changed in this process since the last report, and what is in flight whether it changed
 * or not, so that new listeners learn of long runs. Empty reports are published, too, so that a missing one is noticed.
 * `source` names the process. With `worker` it also reports what this queue-worker does, soon after a change as well,
 * and at the end that it has no slots any more. The returned function publishes the last report and stops.
 */
export function reportActivity(
  activity: Activity,
  source: string,
  totals: () => Iterable<readonly [key: string, totals: ActivityTotals]>,
  worker?: () => WorkerReport,
): () => void {
  const changes = new ActivityChanges();
  let lastReport: WorkerReport | undefined;
  let number = 0;
  const report = (own = worker?.(), last?: boolean): void => {
    lastReport = own;
    number += 1;
    activity.publish({
      source,
      number,
      deltas: changes.since(totals(), performance.now()),
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
          if (own.running !== lastReport?.running || own.slots !== lastReport.slots) report(own);
        }, quickPeriod);
  return () => {
    clearInterval(timer);
    clearInterval(quick);
    const last = worker?.();
    report(last === undefined ? undefined : { queue: last.queue, slots: 0, running: 0 }, true);
  };
}

/** Keeps what was reported of each existing function. */
class ActivityChanges {
  readonly #reported = new Map<string, Reported>();
  #round = 0;

  /** `now` in monotonic milliseconds. */
  since(all: Iterable<readonly [key: string, totals: ActivityTotals]>, now: number): ActivityDelta[] {
    const deltas: ActivityDelta[] = [];
    this.#round += 1;
    let count = 0;
    for (const [key, totals] of all) {
      const { finished, failed = 0, inFlight } = totals;
      count += 1;
      const known = this.#known(key);
      const unchanged = known.finished === finished && known.inFlight === inFlight;
      // A function that was removed and created again is counted from 0.
      const isNew = known.finished > finished;
      if (isNew) known.busy = 0;
      const before = isNew ? 0 : known.finished;
      const failures = failed - (isNew ? 0 : known.failed);
      known.finished = finished;
      known.failed = failed;
      known.inFlight = inFlight;
      known.round = this.#round;
      if (inFlight !== 0 || !unchanged) {
        const failedSince = failures > 0 ? { failed: failures } : {};
        deltas.push({
          function: key,
          finished: finished - before,
          ...failedSince,
          ...busySince(known, totals, now),
          inFlight,
        });
      }
    }
    if (this.#reported.size > count) this.#evict();
    return deltas;
  }

  #known(key: string): Reported {
    let known = this.#reported.get(key);
    // -1, as a function that was never reported must differ from any totals.
    if (known === undefined)
      this.#reported.set(key, (known = { finished: 0, failed: 0, busy: 0, inFlight: -1, round: 0 }));
    return known;
  }

  /** Drops functions that are gone. */
  #evict(): void {
    for (const [key, { round }] of this.#reported) if (round !== this.#round) this.#reported.delete(key);
  }
}

/** Totals last reported of a function, and the last round in which it existed. */
interface Reported {
  finished: number;
  failed: number;
  busy: number;
  inFlight: number;
  round: number;
}

/** Whole milliseconds; the rest is reported the next time. */
function busySince(known: Reported, totals: ActivityTotals, now: number): Pick<ActivityDelta, "busy"> {
  if (totals.busyUntil === undefined) return {};
  const busy = Math.max(0, Math.round(totals.busyUntil(now) - known.busy));
  known.busy += busy;
  return { busy };
}

/** Adds up what other processes report of each function; `own` is the source that is left out. */
export class ActivitySums {
  readonly #finished = new Map<string, number>();
  readonly #unsubscribe: () => void;

  constructor(activity: Activity, own: string) {
    this.#unsubscribe = activity.subscribe(({ deltas }) => {
      for (const delta of deltas) {
        this.#finished.set(delta.function, (this.#finished.get(delta.function) ?? 0) + delta.finished);
      }
    }, own);
  }

  /** Calls of `<name>.<namespace>` that ended elsewhere, as far as reported. */
  finished(key: string): number {
    return this.#finished.get(key) ?? 0;
  }

  /** The function is gone for good. */
  forget(key: string): void {
    this.#finished.delete(key);
  }

  close(): void {
    this.#unsubscribe();
  }
}
