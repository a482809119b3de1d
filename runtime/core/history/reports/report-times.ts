import { rollupSteps } from "../rollups/rollup.ts";

const { length } = rollupSteps["10s"];
/** Milliseconds by which a timer may be early. */
const early = 100;

/** A process and an interval, under which no other points are reported. */
export interface ReportTime {
  readonly source: string;
  /** Begin of the interval, Unix milliseconds. */
  readonly at: number;
}

/** Names the intervals of one process. A process whose clock was set back goes on under another name. */
export class ReportTimes {
  readonly #process: string;
  #names = 1;
  #last = Number.NEGATIVE_INFINITY;

  constructor(process: string) {
    this.#process = process;
  }

  /** The interval that has just ended; `now` is Unix milliseconds. */
  ended(now: number): ReportTime {
    return this.#named(intervalOf(now + early) - length);
  }

  /** The interval that `now` is in, which the end of the process ends. */
  current(now: number): ReportTime {
    return this.#named(intervalOf(now));
  }

  /** Milliseconds until the next interval has ended. */
  wait(now: number): number {
    // After a timer that was early, the end that it was for is still ahead.
    const end = intervalOf(now + early) + length;
    return end - now;
  }

  #named(at: number): ReportTime {
    if (at <= this.#last) this.#names += 1;
    this.#last = at;
    return { source: this.#names === 1 ? this.#process : `${this.#process}.${this.#names}`, at };
  }
}

function intervalOf(time: number): number {
  return time - (time % length);
}
