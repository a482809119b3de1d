import type { Activity, WorkerReport } from "../ports/activity.ts";

/** What the workers of one queue said last, added up. */
export interface WorkersSum {
  /** Calls they can run at once. */
  readonly slots: number;
  readonly running: number;
}

/** Reports come once a second; after this many milliseconds without one a worker counts as gone. */
const silence = 3_500;
/** By then every worker that lives has reported once. */
const firstRound = 1_200;

/** Adds up what queue-workers report of themselves, per queue. */
export class WorkerSums {
  readonly #heard = new Map<string, { readonly report: WorkerReport; readonly at: number }>();
  readonly #end: () => void;
  readonly #now: () => number;
  readonly #since: number;

  /** `now` counts monotonic milliseconds; `own` is a source that is no worker. */
  constructor(activity: Activity, now: () => number = () => performance.now(), own?: string) {
    this.#now = now;
    this.#since = now();
    this.#end = activity.subscribe(({ source, worker }) => {
      if (worker === undefined) return;
      if (worker.slots === 0 && worker.running === 0) this.#heard.delete(source);
      else this.#heard.set(source, { report: worker, at: now() });
    }, own);
  }

  of(queue: string): WorkersSum {
    const oldest = this.#now() - silence;
    let [slots, running] = [0, 0];
    for (const [source, { report, at }] of this.#heard) {
      if (at < oldest) this.#heard.delete(source);
      else if (report.queue === queue) {
        slots += report.slots;
        running += report.running;
      }
    }
    return { slots, running };
  }

  /** Milliseconds until every worker that lives was heard. */
  get untilComplete(): number {
    return Math.max(0, this.#since + firstRound - this.#now());
  }

  close(): void {
    this.#end();
  }
}
