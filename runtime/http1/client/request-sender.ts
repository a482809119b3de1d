import type { Socket } from "node:net";
import type { Readable } from "node:stream";

import { chunkEnd, chunkStart, lastChunk } from "../chunk-frame.ts";
import { sendChunk } from "../send-chunk.ts";
import type { RawRequest } from "./request-head.ts";

/** Sends the requests of one connection, one after another, no faster than the replica reads them. */
export class RequestSender {
  readonly #socket: Socket;
  readonly #onFault: (err: Error) => void;
  #body: Readable | undefined;
  /** Held for the first bytes of the body, at most until the end of this turn of the event loop. */
  #head = "";
  /** Bytes of the body that are still to come; undefined: sent in transfer chunks. */
  #left: number | undefined;
  readonly #onData = (chunk: Uint8Array): void => this.#sendChunk(chunk);
  readonly #onEnd = (): void => this.#end();
  readonly #onError = (err: Error): void => this.#onFault(err);
  readonly #onClose = (): void => this.#onFault(new Error("the body closed before its end"));
  readonly #onDrain = (): void => void this.#body?.resume();
  readonly #flush = (): void => {
    if (this.#head !== "") this.#write("");
  };

  /** `onFault` is called for a body that fails or is not as long as the head states; it must call `stop`. */
  constructor(socket: Socket, onFault: (err: Error) => void) {
    this.#socket = socket;
    this.#onFault = onFault;
    socket.on("drain", this.#onDrain);
  }

  /** Whether a part of the request is still to be sent. */
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

  /** Stops sending; a body may have been sent in part. */
  stop(): void {
    const body = this.#body;
    this.#detach();
    body?.destroy();
  }

  /** Detaches from the socket, which has another owner from now on. */
  release(): void {
    this.#socket.off("drain", this.#onDrain);
  }

  #read(body: Readable): void {
    this.#body = body;
    if (body.readableEnded) this.#end();
    else if (body.destroyed) this.#onFault(body.errored ?? new Error("the body was aborted"));
    else {
      body.on("data", this.#onData).on("end", this.#onEnd).on("error", this.#onError).on("close", this.#onClose);
      body.resume();
      // A replica may reply before there is any of the body.
      setImmediate(this.#flush);
    }
  }

  #sendChunk(chunk: Uint8Array): void {
    const size = chunk.byteLength;
    // An empty transfer chunk would end the body.
    if (size === 0) return;
    if (this.#left !== undefined) {
      if (size > this.#left) return this.#onFault(new Error("the body is longer than its head says"));
      this.#left -= size;
    }
    const head = this.#head;
    this.#head = "";
    const more =
      this.#left === undefined
        ? sendChunk(this.#socket, head + chunkStart(size), chunk, chunkEnd)
        : sendChunk(this.#socket, head, chunk, "");
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
