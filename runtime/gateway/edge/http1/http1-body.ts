import { Readable } from "node:stream";

import { ChunkedReader } from "../../../http1/chunked-reader.ts";

const ignore = (): void => {};

/** The connection that a body is read from. */
export interface BodySource {
  pause(): void;
  resume(): void;
}

/**
 * The body of a request that did not arrive whole with its head. Each chunk has its own memory, which belongs to the
 * reader from then on (`security.md` H11). A reader may destroy the body without closing the client's connection: the
 * rest is discarded.
 */
export class Http1Body extends Readable {
  /** Bytes received so far, without framing. */
  bytes = 0;
  /** Whether the whole body was received. */
  complete = false;
  /** What is wrong with its framing; nothing follows then. */
  fault: string | undefined;
  readonly #source: BodySource;
  readonly #chunks: ChunkedReader | undefined;
  /** Bytes still to come of a body with a length. */
  #left: number;
  #paused = false;
  #wantsMore = true;

  /** A body of `length` bytes, or a chunked one if undefined; `onWanted` is called when it is first read. */
  constructor(length: number | undefined, source: BodySource, onWanted?: () => void) {
    super();
    this.#left = length ?? 0;
    this.#chunks = length === undefined ? new ChunkedReader((data) => this.#append(data)) : undefined;
    this.#source = source;
    // Not in `_read`, which a stream calls before it has a reader.
    if (onWanted !== undefined) this.once("resume", onWanted);
    this.on("error", ignore);
  }

  /** Whether any of it was consumed, so that it cannot be sent a second time. */
  get consumed(): boolean {
    return this.readableDidRead;
  }

  /** Bytes known to be still to come; 0 for a chunked body. */
  get left(): number {
    return this.#left;
  }

  /** Receives the next bytes; returns those after the end of the body, if any. */
  receive(chunk: Buffer): Buffer | undefined {
    this.#wantsMore = true;
    const end = this.#chunks === undefined ? this.#receiveCounted(chunk) : this.#receiveChunks(this.#chunks, chunk);
    if (!this.destroyed) {
      if (this.complete) this.push(null);
      else if (!this.#wantsMore) this.#pause();
    }
    return end === chunk.length ? undefined : chunk.subarray(end);
  }

  override _read(): void {
    this.#resume();
  }

  override _destroy(err: Error | null, done: (err: Error | null) => void): void {
    this.#resume();
    done(err);
  }

  #receiveCounted(chunk: Buffer): number {
    const size = Math.min(chunk.length, this.#left);
    this.#left -= size;
    this.complete = this.#left === 0;
    if (size > 0) this.#append(size === chunk.length ? chunk : chunk.subarray(0, size));
    return size;
  }

  #receiveChunks(chunks: ChunkedReader, chunk: Buffer): number {
    const read = chunks.read(chunk, 0);
    if (typeof read !== "number") {
      this.fault = String(read);
      return chunk.length;
    }
    this.complete = chunks.over;
    return read;
  }

  #append(data: Buffer): void {
    this.bytes += data.length;
    if (!this.destroyed) this.#wantsMore = this.push(data);
  }

  #pause(): void {
    this.#paused = true;
    this.#source.pause();
  }

  #resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#source.resume();
  }
}
