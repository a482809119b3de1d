/** The clock of the memory adapters, which a test may control. */
export interface MemoryClock {
  /** Unix milliseconds. */
  now(): number;
  /** Calls `act` once, after `delay` milliseconds; the returned function cancels that. */
  after(delay: number, act: () => void): () => void;
}

/** The wall clock. Its timers keep no process alive. */
export const realClock: MemoryClock = {
  now: () => Date.now(),
  after: (delay, act) => {
    const timer = setTimeout(act, delay).unref();
    return () => clearTimeout(timer);
  },
};

interface Alarm {
  readonly at: number;
  readonly act: () => void;
}

/** A clock that stands still until `advance`. */
export class ManualClock implements MemoryClock {
  readonly #alarms = new Set<Alarm>();
  #now: number;

  constructor(now = Date.now()) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  after(delay: number, act: () => void): () => void {
    const alarm = { at: this.#now + Math.max(0, delay), act };
    this.#alarms.add(alarm);
    return () => this.#alarms.delete(alarm);
  }

  /** Advances the time by `duration` milliseconds; what falls due meanwhile is called at its due time, in order. */
  advance(duration: number): void {
    const end = this.#now + duration;
    for (;;) {
      const due = [...this.#alarms].filter(({ at }) => at <= end);
      const first = due.reduce<Alarm | undefined>(
        (best, alarm) => (best === undefined || alarm.at < best.at ? alarm : best),
        undefined,
      );
      if (first === undefined) break;
      this.#alarms.delete(first);
      this.#now = Math.max(this.#now, first.at);
      first.act();
    }
    this.#now = end;
  }
}
