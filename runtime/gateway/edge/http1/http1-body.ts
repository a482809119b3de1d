import { Readable } from "node:stream";

import { ChunkedReader } from "../../../http1/chunked-reader.ts";

const ignore = (): void => {};

/** What a body asks of its connection. */
export interface BodySource {
  pause(): void;
  resume(): void;
}

/**
 * The body of a request that did not come in one piece with its head. Each piece has memory of its own, which is its
 * reader's from then on (`security.md` H11). Whoever reads it may destroy it without touching the client's connection: the
 * rest is read away.
 */
export class Http1Body extends Readable {
  /** Bytes that came so far, without what frames them. */
  bytes = 0;
  /** Whether all of it came. */
  complete = false;
  /** What is wrong with how it is framed; nothing follows then. */
  fault: string | undefined;
  readonly #source: BodySource;
  readonly #chunks: ChunkedReader | undefined;
  /** Bytes that are still to come of a body with a length. */
  #left: number;
  #paused = false;
  #goesOn = true;

  /** A body of `length` bytes, or in chunks; `onWanted` hears of its first reader. */
  constructor(length: number | undefined, source: BodySource, onWanted?: () => void) {
    super();
    this.#left = length ?? 0;
    this.#chunks = length === undefined ? new ChunkedReader((piece) => this.#take(piece)) : undefined;
    this.#source = source;
    // Not in `_read`, which a stream calls ahead of its readers.
    if (onWanted !== undefined) this.once("resume", onWanted);
    this.on("error", ignore);
  }

  /** Whether anything of it was taken: then it cannot be sent a second time. */
  get consumed(): boolean {
    return this.readableDidRead;
  }

  /** Bytes that are known to be still to come; of one in chunks nothing is known. */
  get left(): number {
    return this.#left;
  }

  /** Takes what came next; gives what is behind the body. */
  receive(chunk: Buffer): Buffer | undefined {
    this.#goesOn = true;
    const end = this.#chunks === undefined ? this.#receiveCounted(chunk) : this.#receiveChunks(this.#chunks, chunk);
    if (!this.destroyed) {
      if (this.complete) this.push(null);
      else if (!this.#goesOn) this.#pause();
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
    if (size > 0) this.#take(size === chunk.length ? chunk : chunk.subarray(0, size));
    return size;
  }

  #receiveChunks(chunks: ChunkedReader, chunk: Buffer): number {
    const read = chunks.read(chunk, 0);
    if (typeof read === "string") {
      this.fault = read;
      return chunk.length;
    }
    this.complete = chunks.over;
    return read;
  }

  #take(piece: Buffer): void {
    this.bytes += piece.length;
    if (!this.destroyed) this.#goesOn = this.push(piece);
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
