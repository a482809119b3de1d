/** How a look is repeated; durations are milliseconds. */
export interface RepeatedLookParts {
  /** Looks once. */
  readonly look: () => Promise<void>;
  /** Longest time from the end of one look to the next. */
  readonly interval: number;
  /** Called with what `look` rejects with; it is repeated nevertheless. */
  readonly onFailure: (err: unknown) => void;
}

/** The pause after a look is at least this many times as long as the look was. */
const leastRest = 10;

/** Looks again and again, never twice at a time, and sooner when asked to. */
export class RepeatedLook {
  readonly #parts: RepeatedLookParts;
  #timer: NodeJS.Timeout | undefined;
  /** When the next look is due, by `performance.now()`. */
  #due: number;
  #running: Promise<void> | undefined;
  #isClosed = false;

  /** The first look is after the interval. */
  constructor(parts: RepeatedLookParts) {
    this.#parts = parts;
    this.#due = performance.now() + parts.interval;
    this.#arm();
  }

  /** Asks for a look that begins in `delay` milliseconds at the latest. */
  within(delay: number): void {
    const due = performance.now() + delay;
    if (due >= this.#due) return;
    this.#due = due;
    if (this.#running === undefined) this.#arm();
  }

  /** Resolves when no look is going on any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #arm(): void {
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    const delay = Math.max(0, this.#due - performance.now());
    this.#timer = setTimeout(() => void (this.#running = this.#run()), delay).unref();
  }

  async #run(): Promise<void> {
    const { look, interval, onFailure } = this.#parts;
    const startedAt = performance.now();
    this.#due = Number.POSITIVE_INFINITY;
    try {
      await look();
    } catch (err) {
      onFailure(err);
    }
    const endedAt = performance.now();
    this.#due = Math.min(this.#due, endedAt + Math.max(interval, leastRest * (endedAt - startedAt)));
    this.#running = undefined;
    this.#arm();
  }
}
