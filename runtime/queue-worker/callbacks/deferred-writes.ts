import { pauseFor } from "../../process/pause-for.ts";

/** Milliseconds between two rounds. */
const interval = 2_000;
/** Most writes that wait; they must not hold bodies. */
const maxWaiting = 10_000;

interface DeferredWrite {
  /** True when there is nothing left to write. */
  readonly write: () => Promise<boolean>;
  /** Monotonic milliseconds. */
  readonly until: number;
}

/** How long deferred writes are retried. */
export interface DeferredWritesOptions {
  /** Milliseconds. */
  readonly retryFor: number;
  /** Aborts all retries. */
  readonly stop: AbortSignal;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
  /** Resolves after that many milliseconds, or when `signal` aborts. */
  readonly pause?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

const monotonic = (): number => performance.now();

/**
 * Writes of outcomes that failed at the time. They are retried one after the other, for up to `retryFor` each, and kept
 * in memory only: if this process ends, the records stay wrong for longer.
 */
export class DeferredWrites {
  readonly #options: DeferredWritesOptions;
  readonly #waiting: DeferredWrite[] = [];
  #running = false;

  constructor(options: DeferredWritesOptions) {
    this.#options = options;
  }

  /** `write` must not reject. */
  add(write: () => Promise<boolean>): void {
    if (this.#waiting.length >= maxWaiting) return;
    const { retryFor, now = monotonic } = this.#options;
    this.#waiting.push({ write, until: now() + retryFor });
    if (!this.#running) void this.#run();
  }

  async #run(): Promise<void> {
    const { stop, now = monotonic, pause = pauseFor } = this.#options;
    this.#running = true;
    while (this.#waiting.length > 0 && !stop.aborted) {
      await pause(interval, stop);
      for (let left = this.#waiting.length; left > 0 && !stop.aborted; left -= 1) {
        const [first] = this.#waiting;
        const done = first === undefined || now() >= first.until || (await first.write());
        this.#waiting.shift();
        if (done) continue;
        // If one finds no room, the next will not either; a write that alone fails must not keep the others waiting.
        this.#waiting.push(first);
        break;
      }
    }
    this.#running = false;
  }
}
