import type { WatchClock } from "../../../runtime/gateway/watch/watch-clock.ts";

/** A clock that only a test moves. */
export class ManualWatchClock implements WatchClock {
  #now = 0;
  readonly #timers = new Set<{ readonly period: number; readonly run: () => void; next: number }>();

  now(): number {
    return this.#now;
  }

  every(period: number, run: () => void): () => void {
    const timer = { period, run, next: this.#now + period };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** Timers that run. */
  get timers(): number {
    return this.#timers.size;
  }

  /** Moves on, and calls what is due by then in its order. */
  advance(milliseconds: number): void {
    const end = this.#now + milliseconds;
    for (;;) {
      const due = [...this.#timers].filter(({ next }) => next <= end).toSorted((a, b) => a.next - b.next)[0];
      if (due === undefined) break;
      this.#now = due.next;
      due.next += due.period;
      due.run();
    }
    this.#now = end;
  }
}
