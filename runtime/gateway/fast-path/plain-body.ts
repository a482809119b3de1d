import type { Socket } from "node:net";
import { Readable } from "node:stream";

import type { LentBody } from "../../core/ports/upstream.ts";

const ignore = (): void => {};

/**
 * Gives the memory of a piece back now, and not when garbage is collected: the next piece is read to the same memory, which
 * is in the processor's caches still. That is worth more than half of what goes through (P5). `size`: what was used of it.
 */
function free(chunk: Buffer, size: number): void {
  const { buffer } = chunk;
  // Memory that is shared with others, as that of small buffers is, is not ours to give.
  if (buffer instanceof ArrayBuffer && size === buffer.byteLength) buffer.transfer(0);
}

/**
 * The body of a plain request that did not come in one piece with its head. Whoever reads it may destroy it without
 * touching the client's connection: the rest is read away.
 */
export class PlainBody extends Readable implements LentBody {
  borrowed = false;
  /** Bytes that came so far. */
  bytes = 0;
  /** Whether all of it came. */
  complete = false;
  readonly #socket: Socket;
  #left: number;
  #paused = false;

  /** A body of `length` bytes, which `receive` gets. */
  constructor(length: number, socket: Socket) {
    super();
    this.#left = length;
    this.#socket = socket;
    this.on("error", ignore);
  }

  /** Whether anything of it was taken: then it cannot be sent a second time. */
  get consumed(): boolean {
    return this.readableDidRead;
  }

  /** Takes what came next; gives what is behind the body. */
  receive(chunk: Buffer): Buffer | undefined {
    const { length } = chunk;
    const size = Math.min(length, this.#left);
    this.#left -= size;
    this.bytes += size;
    this.complete = this.#left === 0;
    if (!this.destroyed) {
      const goesOn = this.push(size === length ? chunk : chunk.subarray(0, size));
      if (this.borrowed && this.readableFlowing === true && this.readableLength === 0) free(chunk, size);
      if (this.complete) this.push(null);
      else if (!goesOn) this.#pause();
    }
    return size === length ? undefined : chunk.subarray(size);
  }

  override _read(): void {
    this.#resume();
  }

  override _destroy(err: Error | null, done: (err: Error | null) => void): void {
    this.#resume();
    done(err);
  }

  #pause(): void {
    this.#paused = true;
    this.#socket.pause();
  }

  #resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#socket.resume();
  }
}
