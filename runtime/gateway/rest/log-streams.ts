import { once } from "node:events";
import type { OutgoingHttpHeaders, ServerResponse } from "node:http";

import { PlatformError } from "../../api/platform-error.ts";
import type { LogRecord } from "../../api/schemas/log-record.ts";

/** Most log streams at a time (contract §3.4). */
const mostStreams = 200;

export interface LogStreamOptions {
  /** Silence after which an empty line is sent, milliseconds. */
  readonly heartbeat: number;
  /** Most often it is asked whether the function is still there, milliseconds. */
  readonly checkEvery: number;
}

/** Sends log records to clients, as NDJSON, as they come. */
export class LogStreams {
  readonly #options: LogStreamOptions;
  readonly #open = new Set<AbortController>();

  constructor(options: LogStreamOptions) {
    this.#options = options;
  }

  /**
   * Streams what `read` gives, no faster than the client reads, until it ends, the client leaves, or `isThere` says
   * false; then ends the response. When `read` fails it rejects and leaves the response open: the caller must cut it, so that this
   * cannot be taken for the end of the log.
   * @throws PlatformError `too_many_streams`, before anything is sent
   */
  async send(
    response: ServerResponse,
    headers: OutgoingHttpHeaders,
    read: (signal: AbortSignal) => AsyncIterable<LogRecord>,
    isThere: () => Promise<boolean>,
  ): Promise<void> {
    if (this.#open.size >= mostStreams) {
      throw new PlatformError("too_many_streams", `Cannot stream logs: ${mostStreams} streams are open`);
    }
    const ending = new AbortController();
    const end = (): void => ending.abort();
    this.#open.add(ending);
    response.once("close", end);
    const { heartbeat, checkEvery } = this.#options;
    const beat = setInterval(() => response.writableNeedDrain || response.write("\n"), heartbeat);
    const check = setInterval(
      () =>
        void isThere().then(
          (there) => there || end(),
          () => {},
        ),
      checkEvery,
    );
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
