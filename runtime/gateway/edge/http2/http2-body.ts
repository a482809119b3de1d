import type { ServerHttp2Stream } from "node:http2";
import { Readable } from "node:stream";

import type { BodyStream } from "../../calls/exchange.ts";

const ignore = (): void => {};

/**
 * The body of a request over HTTP/2. Nothing is read from the stream before the first read. A reader may destroy the
 * body without closing the stream: the rest is discarded.
 */
export class Http2Body extends Readable implements BodyStream {
  bytes = 0;
  /** Whether the whole body was received. */
  complete = false;
  /** Flat; set once the body is complete. */
  trailers: readonly string[] = [];
  readonly #stream: ServerHttp2Stream;

  /** `onWanted` is called when the body is first read. */
  constructor(stream: ServerHttp2Stream, onWanted: () => void) {
    super();
    this.#stream = stream;
    this.on("error", ignore);
    // Not in `_read`, which a stream calls before it has a reader.
    this.once("resume", onWanted);
    stream.on("data", (chunk: Buffer) => this.#append(chunk));
    stream.once("trailers", (_trailers, _flags, list: string[]) => (this.trailers = list));
    stream.once("end", () => {
      this.complete = !stream.aborted;
      if (this.complete && !this.destroyed) this.push(null);
    });
    stream.once("close", () => {
      if (!this.complete) this.destroy(new Error("the client left"));
    });
    stream.pause();
  }

  get consumed(): boolean {
    return this.readableDidRead;
  }

  override _read(): void {
    if (!this.#stream.destroyed) this.#stream.resume();
  }

  override _destroy(err: Error | null, done: (err: Error | null) => void): void {
    if (!this.#stream.destroyed) this.#stream.resume();
    done(err);
  }

  #append(chunk: Buffer): void {
    this.bytes += chunk.byteLength;
    if (!this.destroyed && !this.push(chunk)) this.#stream.pause();
  }
}
