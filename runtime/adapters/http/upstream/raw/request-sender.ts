import type { Socket } from "node:net";
import type { Readable } from "node:stream";

import { chunkEnd, chunkStart, lastChunk } from "../../../../http1/chunk-frame.ts";
import { sendPiece } from "../../../../http1/send-piece.ts";
import type { RawRequest } from "./request-head.ts";

/** Sends the requests of one connection, one after another, as fast as the replica takes them. */
export class RequestSender {
  readonly #socket: Socket;
  readonly #onFault: (err: Error) => void;
  #body: Readable | undefined;
  /** Waits for the first bytes of the body, until the end of the turn of the event loop at most. */
  #head = "";
  /** Bytes of the body that are still to come; undefined: sent in chunks. */
  #left: number | undefined;
  readonly #onData = (chunk: Uint8Array): void => this.#sendChunk(chunk);
  readonly #onEnd = (): void => this.#end();
  readonly #onError = (err: Error): void => this.#onFault(err);
  readonly #onClose = (): void => this.#onFault(new Error("the body ended before its end"));
  readonly #onDrain = (): void => void this.#body?.resume();
  readonly #flush = (): void => {
    if (this.#head !== "") this.#write("");
  };

  /** `onFault` hears of a body that breaks, or is not as long as the head says; then `stop` is to be called. */
  constructor(socket: Socket, onFault: (err: Error) => void) {
    this.#socket = socket;
    this.#onFault = onFault;
    socket.on("drain", this.#onDrain);
  }

  /** Whether a part of the request is still here. */
  get sending(): boolean {
    return this.#body !== undefined || this.#socket.writableLength > 0;
  }

  send({ head, body, length }: RawRequest): void {
    this.#head = head;
    if (body === null) {
      this.#write("");
    } else if (body instanceof Uint8Array) {
      this.#left = body.byteLength;
      this.#sendChunk(body);
    } else {
      this.#left = length;
      this.#read(body);
    }
  }

  /** Nothing more is sent; what was sent of a body may be a part of it. */
  stop(): void {
    const body = this.#body;
    this.#detach();
    body?.destroy();
  }

  /** The connection is somebody else's. */
  release(): void {
    this.#socket.off("drain", this.#onDrain);
  }

  #read(body: Readable): void {
    this.#body = body;
    if (body.readableEnded) this.#end();
    else if (body.destroyed) this.#onFault(body.errored ?? new Error("the body was given up"));
    else {
      body.on("data", this.#onData).on("end", this.#onEnd).on("error", this.#onError).on("close", this.#onClose);
      body.resume();
      // A replica may want to answer before there is any of it.
      setImmediate(this.#flush);
    }
  }

  #sendChunk(chunk: Uint8Array): void {
    const size = chunk.byteLength;
    // Nothing of no length: it would be the end.
    if (size === 0) return;
    if (this.#left !== undefined) {
      if (size > this.#left) return this.#onFault(new Error("the body is longer than its head says"));
      this.#left -= size;
    }
    const head = this.#head;
    this.#head = "";
    const more =
      this.#left === undefined
        ? sendPiece(this.#socket, head + chunkStart(size), chunk, chunkEnd)
        : sendPiece(this.#socket, head, chunk, "");
    if (!more && this.#socket.writableLength > 0) this.#body?.pause();
  }

  #end(): void {
    if (this.#left !== undefined && this.#left > 0)
      return this.#onFault(new Error("the body is shorter than its head says"));
    if (this.#left === undefined) this.#write(lastChunk);
    this.#detach();
  }

  #write(text: string): void {
    const head = this.#head;
    this.#head = "";
    this.#socket.write(head + text, "latin1");
  }

  #detach(): void {
    const body = this.#body;
    this.#body = undefined;
    this.#head = "";
    body?.off("data", this.#onData).off("end", this.#onEnd).off("error", this.#onError).off("close", this.#onClose);
  }
}
