import type { ActivityReport } from "../ports/activity.ts";

/** Counts of one function's calls; all but `inFlight` only grow. */
export interface CallFigures {
  readonly finished: number;
  /** Of them, those with a status of 500 or more. */
  readonly failed: number;
  readonly inFlight: number;
}

type CountedFigures = { -readonly [Name in keyof CallFigures]: CallFigures[Name] };

/** Reports come once a second; a process without one for this many milliseconds is silent. */
const silentAfter = 3_500;

/** What other processes report of calls, by function. Times are monotonic milliseconds. */
export class ElsewhereCalls {
  readonly #figures = new Map<string, CountedFigures>();
  /** The last report of each process: when it came, and its calls in flight. */
  readonly #sources = new Map<string, { readonly at: number; readonly busy: Map<string, number> }>();

  add({ source, deltas, last }: ActivityReport, now: number): void {
    this.#drop(source);
    const busy = new Map<string, number>();
    for (const { function: key, finished, failed = 0, inFlight } of deltas) {
      const figures = this.#figuresOf(key);
      figures.finished += finished;
      figures.failed += failed;
      // A process that ends has none any more.
      if (inFlight === 0 || last === true) continue;
      figures.inFlight += inFlight;
      busy.set(key, inFlight);
    }
    if (last !== true) this.#sources.set(source, { at: now, busy });
  }

  /** Calls in flight of processes that are silent do not count any more. */
  dropSilent(now: number): void {
    for (const [source, { at }] of this.#sources) if (now - at > silentAfter) this.#drop(source);
  }

  /** By `<name>.<namespace>`. */
  find(key: string): CallFigures | undefined {
    return this.#figures.get(key);
  }

  /** The function is gone for good. */
  forget(key: string): void {
    this.#figures.delete(key);
    // Another function of its name has other calls.
    for (const { busy } of this.#sources.values()) busy.delete(key);
  }

  #drop(source: string): void {
    for (const [key, inFlight] of this.#sources.get(source)?.busy ?? []) {
      const figures = this.#figures.get(key);
      if (figures !== undefined) figures.inFlight -= inFlight;
    }
    this.#sources.delete(source);
  }

  #figuresOf(key: string): CountedFigures {
    let figures = this.#figures.get(key);
    if (figures === undefined) this.#figures.set(key, (figures = { finished: 0, failed: 0, inFlight: 0 }));
    return figures;
  }
}
