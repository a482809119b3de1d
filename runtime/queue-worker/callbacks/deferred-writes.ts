import { pauseFor } from "../../process/pause-for.ts";

/** Milliseconds between two rounds. */
const interval = 2_000;
/** So many outcomes are kept: whoever adds one keeps no bodies in it. */
const mostKept = 10_000;

interface LateWrite {
  /** True when there is nothing left to write. */
  readonly write: () => Promise<boolean>;
  /** Monotonic milliseconds. */
  readonly until: number;
}

/** How long what is late is tried. */
export interface LateWritesOptions {
  /** Milliseconds. */
  readonly patience: number;
  /** Nothing is tried any more when it aborts. */
  readonly stop: AbortSignal;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
  /** Resolves after so many of them, or when `signal` aborts. */
  readonly pause?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

const monotonic = (): number => performance.now();

/**
 * What was heard and could not be written when it was: tried again, one after the other, for as long as `patience` says. It is
 * kept in memory alone: what it would correct is told wrong by the record for longer if this process ends.
 */
export class DeferredWrites {
  readonly #options: LateWritesOptions;
  readonly #waiting: LateWrite[] = [];
  #running = false;

  constructor(options: LateWritesOptions) {
    this.#options = options;
  }

  /** `write` must not reject. */
  add(write: () => Promise<boolean>): void {
    if (this.#waiting.length >= mostKept) return;
    const { patience, now = monotonic } = this.#options;
    this.#waiting.push({ write, until: now() + patience });
    if (!this.#running) void this.#run();
  }

  async #run(): Promise<void> {
    const { stop, now = monotonic, pause = pauseFor } = this.#options;
    this.#running = true;
    while (this.#waiting.length > 0 && !stop.aborted) {
      await pause(interval, stop);
      for (let left = this.#waiting.length; left > 0 && !stop.aborted; left -= 1) {
        const [first] = this.#waiting;
        const over = first === undefined || now() >= first.until || (await first.write());
        this.#waiting.shift();
        if (over) continue;
        // When one finds no room the next will not either; and one that alone cannot be written keeps no other waiting.
        this.#waiting.push(first);
        break;
      }
    }
    this.#running = false;
  }
}
