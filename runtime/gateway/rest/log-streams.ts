import { once } from "node:events";
import type { OutgoingHttpHeaders, ServerResponse } from "node:http";

import { PlatformError } from "../../api/platform-error.ts";

/** Most log streams at a time (contract §3.4). */
const maxStreams = 200;

export interface LogStreamOptions {
  /** Time without a record after which an empty line is sent, milliseconds. */
  readonly heartbeat: number;
  /** Time between two checks whether the function still exists, milliseconds. */
  readonly checkEvery: number;
}

/** Streams records of logs to clients as NDJSON. */
export class LogStreams {
  readonly #options: LogStreamOptions;
  readonly #open = new Set<AbortController>();

  constructor(options: LogStreamOptions) {
    this.#options = options;
  }

  /**
   * Streams the records of `read`, no faster than the client reads, until they end, the client leaves, `isThere` resolves
   * to false, or it is `lastMoment` (of `performance.now()`); then ends the response. If `read` fails, it rejects and
   * leaves the response open: the caller must cut it, so that the failure is not mistaken for the end of the log.
   * @throws PlatformError `too_many_streams`, before anything is sent
   */
  async send(
    response: ServerResponse,
    headers: OutgoingHttpHeaders,
    read: (signal: AbortSignal) => AsyncIterable<object>,
    isThere: () => Promise<boolean>,
    lastMoment = Number.POSITIVE_INFINITY,
  ): Promise<void> {
    if (this.#open.size >= maxStreams) {
      throw new PlatformError("too_many_streams", `Cannot stream logs: ${maxStreams} streams are open`);
    }
    const ending = new AbortController();
    const end = (): void => ending.abort();
    // It may have closed before, and will not emit that again.
    if (response.closed) return;
    this.#open.add(ending);
    response.once("close", end);
    const { heartbeat, checkEvery } = this.#options;
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
      for await (const record of read(ending.signal)) {
        if (ending.signal.aborted) break;
        beat.refresh();
        if (!response.write(`${JSON.stringify(record)}\n`)) await once(response, "drain", { signal: ending.signal });
      }
    } catch (err) {
      if (!ending.signal.aborted) throw err;
    } finally {
      clearInterval(beat);
      clearInterval(check);
      response.off("close", end);
      this.#open.delete(ending);
    }
    response.end();
  }

  /** Ends all streams. */
  close(): void {
    for (const ending of this.#open) ending.abort();
  }
}
