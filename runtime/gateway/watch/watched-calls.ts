import type { Activity } from "../../core/ports/activity.ts";
import { ElsewhereCalls, type CallFigures } from "../../core/watch/elsewhere-calls.ts";

/** Counts of calls in other processes, which are followed only while somebody looks. */
export class WatchedCalls {
  readonly #activity: Activity;
  readonly #own: string;
  readonly #now: () => number;
  #calls = new ElsewhereCalls();
  #unsubscribe: (() => void) | undefined;

  /** `own` is the source that is left out. */
  constructor(activity: Activity, own: string, now: () => number = () => performance.now()) {
    this.#activity = activity;
    this.#own = own;
    this.#now = now;
  }

  open(): void {
    this.#calls = new ElsewhereCalls();
    this.#unsubscribe ??= this.#activity.subscribe((report) => this.#calls.add(report, this.#now()), this.#own);
  }

  close(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
  }

  find(key: string): CallFigures | undefined {
    return this.#calls.find(key);
  }

  /** Leaves out processes that are silent, and functions that are gone. */
  tidy(gone: Iterable<string>): void {
    this.#calls.dropSilent(this.#now());
    for (const key of gone) this.#calls.forget(key);
  }
}
