import { once } from "node:events";
import type { OutgoingHttpHeaders, ServerResponse } from "node:http";

import { PlatformError } from "../../api/platform-error.ts";

/** Most log streams at a time (contract §3.4), of all routes and listeners of a process together. */
const maxStreams = 200;
const usualCheck = 2_000;

export interface LogStreamOptions {
  /** Time without a record after which an empty line is sent, milliseconds. */
  readonly heartbeat: number;
  /** Time between two checks whether the function still exists, milliseconds; 2 s when absent. */
  readonly checkEvery?: number;
}

/** The log streams of a process. */
export class LogStreams {
  readonly #options: LogStreamOptions;
  readonly #open = new Set<LogStream>();

  constructor(options: LogStreamOptions) {
    this.#options = options;
  }

  /**
   * Begins a stream, before anything is read for it; it counts until its end was sent, or it is disposed of.
   * @throws PlatformError `too_many_streams`
   */
  begin(): LogStream {
    if (this.#open.size >= maxStreams) {
      throw new PlatformError("too_many_streams", `Cannot stream logs: ${maxStreams} streams are open`);
    }
    const stream = new LogStream(this.#options, () => this.#open.delete(stream));
    this.#open.add(stream);
    return stream;
  }

  /** Ends all streams. */
  close(): void {
    for (const stream of this.#open) stream.end();
  }
}

/** One stream of records to a client as NDJSON, from before anything is read for it. */
export class LogStream implements Disposable {
  readonly #options: LogStreamOptions;
  readonly #left: () => void;
  readonly #ending = new AbortController();

  /** `left` is called when it is over. */
  constructor(options: LogStreamOptions, left: () => void) {
    this.#options = options;
    this.#left = left;
  }

  /** Aborts when it ends: nothing more needs to be read. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /**
   * Sends the records of `read`, no faster than the client reads, until they end, the client leaves, `isThere` resolves
   * to false, or it is `lastMoment` (of `performance.now()`); then ends the response. If `read` fails, it rejects and
   * leaves the response open: the caller must cut it, so that the failure is not mistaken for the end of the log.
   */
  async send(
    response: ServerResponse,
    headers: OutgoingHttpHeaders,
    read: (signal: AbortSignal) => AsyncIterable<object>,
    isThere: () => Promise<boolean>,
    lastMoment = Number.POSITIVE_INFINITY,
  ): Promise<void> {
    const { signal } = this;
    const end = (): void => this.end();
    // It may have closed before, and will not emit that again.
    if (response.closed) return this[Symbol.dispose]();
    response.once("close", end);
    const { heartbeat, checkEvery = usualCheck } = this.#options;
    const beat = setInterval(() => response.writableNeedDrain || response.write("\n"), heartbeat);
    const check = setInterval(() => {
      if (performance.now() >= lastMoment) return end();
      return void isThere().then(
        (there) => there || end(),
        () => {},
      );
    }, checkEvery);
    try {
      response.writeHead(200, headers);
      response.flushHeaders();
      // The gateway may be closing by now; whoever reads might not look at that.
      for await (const record of signal.aborted ? [] : read(signal)) {
        if (signal.aborted) break;
        beat.refresh();
        if (!response.write(`${JSON.stringify(record)}\n`)) await once(response, "drain", { signal });
      }
    } catch (err) {
      if (!signal.aborted) throw err;
    } finally {
      clearInterval(beat);
      clearInterval(check);
      response.off("close", end);
      this[Symbol.dispose]();
    }
    response.end();
  }

  /** Ends it. */
  end(): void {
    this.#ending.abort();
  }

  /** Gives its place back; what was begun for it ends. */
  [Symbol.dispose](): void {
    this.end();
    this.#left();
  }
}
