import type { RecordChanges } from "../../core/ports/record-changes.ts";
import type { Log } from "../../process/log.ts";
import { pauseFor } from "../../process/pause-for.ts";
import type { HistoryWrites } from "../history-writes.ts";
import type { ReadState } from "./read-state.ts";

export interface CheckOpenCallsParts {
  readonly records: Pick<RecordChanges, "withoutRecord">;
  readonly writes: HistoryWrites;
  readonly state: Pick<ReadState, "lagSeconds">;
  readonly log: Log;
}

/** Calls that are looked up together, and milliseconds until the next ones: the broker has other things to do. */
const step = { size: 100, pause: 200 };
const period = 3_600_000;
/** Milliseconds until the next attempt while it cannot be checked. */
const retryAfter = 1_000;
/** Seconds within which the records must have been read: the end of a call may be just behind. */
const levelWithin = 1;

/** Makes calls unknown that did not end as far as was seen, and have no record any more. */
export class OpenCallsCheck {
  readonly #parts: CheckOpenCallsParts;
  #wake = new AbortController();
  #isDue = false;

  constructor(parts: CheckOpenCallsParts) {
    this.#parts = parts;
  }

  /** Records may have gone unseen: all open calls are checked soon. */
  ask(): void {
    this.#isDue = true;
    this.#wake.abort();
  }

  /** Checks when asked, and every hour, until `stop` aborts. Never rejects. */
  async run(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      if (!this.#isDue) await pauseFor(period, AbortSignal.any([stop, this.#wake.signal]));
      this.#wake = new AbortController();
      this.#isDue = false;
      if (!(await this.#checked(stop)) && !stop.aborted) {
        this.#isDue = true;
        await pauseFor(retryAfter, stop);
      }
    }
  }

  /** True when all open calls were checked. */
  async #checked(stop: AbortSignal): Promise<boolean> {
    const { records, writes, state, log } = this.#parts;
    try {
      let unknown = 0;
      for (let after: string | undefined; !stop.aborted; await pauseFor(step.pause, stop)) {
        if (state.lagSeconds > levelWithin) return false;
        const from = after;
        const ids = await writes.run((writer) => writer.openCalls(from, step.size));
        if (ids.length > 0) {
          const gone = await records.withoutRecord(ids);
          if (gone.length > 0) await writes.run((writer) => writer.markUnknown(gone));
          unknown += gone.length;
          after = ids.at(-1);
        }
        if (ids.length < step.size) {
          if (unknown > 0) log.info({ calls: unknown }, "calls without a record became unknown");
          return true;
        }
      }
    } catch (err) {
      log.debug({ err }, "cannot check open calls");
    }
    return false;
  }
}
