import type { Activity, WorkerReport } from "../ports/activity.ts";

/** Sum of the last reports of one queue's workers. */
export interface WorkersSum {
  /** Calls they can run at once. */
  readonly slots: number;
  readonly running: number;
}

/** Reports come once a second; after this many milliseconds without one a worker counts as gone. */
const goneAfter = 3_500;
/** Milliseconds in which every live worker reports once. */
const firstRound = 1_200;

/** Adds up what queue-workers report of themselves, per queue. */
export class WorkerSums {
  readonly #reports = new Map<string, { readonly report: WorkerReport; readonly at: number }>();
  readonly #unsubscribe: () => void;
  readonly #now: () => number;
  readonly #since: number;

  /** `now` counts monotonic milliseconds; `own` is a source to leave out, as it is not a worker. */
  constructor(activity: Activity, now: () => number = () => performance.now(), own?: string) {
    this.#now = now;
    this.#since = now();
    this.#unsubscribe = activity.subscribe(({ source, worker }) => {
      if (worker === undefined) return;
      if (worker.slots === 0 && worker.running === 0) this.#reports.delete(source);
      else this.#reports.set(source, { report: worker, at: now() });
    }, own);
  }

  of(queue: string): WorkersSum {
    const oldest = this.#now() - goneAfter;
    let [slots, running] = [0, 0];
    for (const [source, { report, at }] of this.#reports) {
      if (at < oldest) this.#reports.delete(source);
      else if (report.queue === queue) {
        slots += report.slots;
        running += report.running;
      }
    }
    return { slots, running };
  }

  /** Milliseconds until every live worker has reported. */
  get untilComplete(): number {
    return Math.max(0, this.#since + firstRound - this.#now());
  }

  close(): void {
    this.#unsubscribe();
  }
}
