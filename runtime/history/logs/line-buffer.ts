import type { FollowedLine } from "../../core/ports/kept-logs.ts";
import type { Log } from "../../process/log.ts";
import { pauseFor } from "../../process/pause-for.ts";

/** What waits to be stored at most; who adds more waits: logs are read again later, so nothing is lost. */
const most = { lines: 4_000, bytes: 4 * 1_048_576 };
/** Lines of one write. */
const batchSize = 500;
/** Milliseconds in which lines are gathered. */
const gatherFor = 200;
const usualRetry = 1_000;

/** Lines on their way into the store. */
export class LineBuffer {
  readonly #append: (lines: readonly FollowedLine[]) => Promise<void>;
  readonly #log: Log;
  readonly #retryAfter: number;
  #lines: FollowedLine[] = [];
  #bytes = 0;

  /** `append` stores lines; when it failed, it is called again after `retryAfter` milliseconds (1 s). */
  constructor(append: (lines: readonly FollowedLine[]) => Promise<void>, log: Log, retryAfter: number = usualRetry) {
    this.#append = append;
    this.#log = log;
    this.#retryAfter = retryAfter;
  }

  /** Resolves at once while there is room, else when there is, or `stop` aborts. */
  async put(line: FollowedLine, stop: AbortSignal): Promise<void> {
    while (!stop.aborted && (this.#lines.length >= most.lines || this.#bytes >= most.bytes)) await pauseFor(50, stop);
    if (stop.aborted) return;
    this.#lines.push(line);
    this.#bytes += Buffer.byteLength(line.text);
  }

  /** Stores what is put, until `stop` aborts, and then what is left, once. Never rejects. */
  async run(stop: AbortSignal): Promise<void> {
    let reported = false;
    while (!stop.aborted) {
      await pauseFor(gatherFor, stop);
      while (this.#lines.length > 0) {
        try {
          await this.#store();
          if (reported) this.#log.info("log lines are kept again");
          reported = false;
        } catch (err) {
          if (!reported) this.#log.error({ err }, "cannot keep log lines");
          reported = true;
          if (stop.aborted) return;
          await pauseFor(this.#retryAfter, stop);
        }
      }
    }
  }

  async #store(): Promise<void> {
    const batch = this.#lines.slice(0, batchSize);
    await this.#append(batch);
    this.#lines = this.#lines.slice(batch.length);
    this.#bytes = this.#lines.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  }
}
