import { PlatformError } from "../../../api/platform-error.ts";
import type { LogRecord } from "../../../api/schemas/log-record.ts";
import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import type { LogSource } from "../../../core/ports/log-source.ts";
import { eventText } from "../../../core/watch/event-text.ts";
import { LineBatch } from "../../../core/watch/line-batch.ts";
import type { Log } from "../../../process/log.ts";
import type { WatchClock } from "../watch-clock.ts";
import type { WatchReader } from "../watch-reader.ts";
import { faultEvent } from "./fault-event.ts";
import type { WatchFeed } from "./watch-feed.ts";

export interface LogFeedParts {
  /** Absent: the provider keeps no logs. */
  readonly logs: LogSource | undefined;
  /** Whether the function is there. */
  readonly isThere: () => boolean;
  readonly clock: WatchClock;
  readonly log: Log;
}

/** Lines of each replica that a reader begins with. */
const tail = 50;
/** Milliseconds until a log that could not be read is read again. */
const again = 5_000;

/** Topic `log:<namespace>:<name>`, of one reader: each begins at another line. */
export class LogFeed implements WatchFeed {
  readonly #on: string;
  readonly #ref: FunctionRef;
  readonly #parts: LogFeedParts;
  readonly #batch: LineBatch<LogRecord>;
  #reader: WatchReader | undefined;
  #ending = new AbortController();
  #isReading = false;
  #readAgainAt = Number.NEGATIVE_INFINITY;
  #begins = true;

  constructor(on: string, ref: FunctionRef, parts: LogFeedParts) {
    this.#on = on;
    this.#ref = ref;
    this.#parts = parts;
    this.#batch = new LineBatch(parts.clock.now());
  }

  get isIdle(): boolean {
    return this.#reader === undefined;
  }

  join(reader: WatchReader): void {
    this.#reader = reader;
    this.tick(this.#parts.clock.now());
  }

  leave(): void {
    this.#reader = undefined;
    this.#ending.abort();
  }

  /** Sends what came since the last one; reads a log that is not read: of a function that comes, or after a failure. */
  tick(now: number): void {
    this.#flush();
    if (this.#reader === undefined || this.#isReading || now < this.#readAgainAt || !this.#parts.isThere()) return;
    void this.#read();
  }

  async #read(): Promise<void> {
    const { logs, clock } = this.#parts;
    this.#isReading = true;
    this.#begins = true;
    const { signal } = (this.#ending = new AbortController());
    try {
      if (logs === undefined) throw new PlatformError("not_built", "Cannot read logs: this provider keeps none");
      const query = { ...this.#ref, instance: undefined, tail, since: undefined, follow: true };
      for await (const record of logs.read(query, signal)) {
        if (signal.aborted) break;
        this.#batch.add(record, record.text.length, clock.now());
      }
    } catch (err) {
      if (!signal.aborted) this.#tellFault(err);
    }
    this.#isReading = false;
    this.#readAgainAt = clock.now() + again;
  }

  #flush(): void {
    if (this.#isReading && !this.#parts.isThere()) this.#ending.abort();
    const { records, skipped } = this.#batch.take();
    // A log without a line begins, too.
    if (records.length === 0 && skipped === 0 && !(this.#begins && this.#isReading)) return;
    this.#reader?.send(eventText("log", { on: this.#on, begin: this.#begins, records: [...records], skipped }));
    this.#begins = false;
  }

  #tellFault(err: unknown): void {
    const { log } = this.#parts;
    this.#reader?.send(faultEvent(this.#on, err, { log, defect: "Cannot read the log: the gateway failed" }));
  }
}
