import type { Socket } from "node:net";
import { Readable } from "node:stream";

const ignore = (): void => {};

/**
 * The body of a plain request that did not come in one piece with its head. Whoever reads it may destroy it without
 * touching the client's connection: the rest is read away.
 */
export class PlainBody extends Readable {
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
    const size = Math.min(chunk.length, this.#left);
    this.#left -= size;
    this.bytes += size;
    this.complete = this.#left === 0;
    if (!this.destroyed) {
      const goesOn = this.push(size === chunk.length ? chunk : chunk.subarray(0, size));
      if (this.complete) this.push(null);
      else if (!goesOn) this.#pause();
    }
    return size === chunk.length ? undefined : chunk.subarray(size);
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
