import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";

import type { Http1Body } from "../../edge/http1/http1-body.ts";
import { Http1Request } from "../../edge/http1/http1-request.ts";
import type { CallRequest } from "../exchange.ts";

const ignore = (): void => {};

/** The body of a request on its way to a function: its bytes if they are here; null if it has none. */
export type CallBody = RequestBody | Http1Body | Buffer | null;

/** The body of a request that has one. */
export function bodyOf(request: CallRequest): CallBody {
  return request instanceof Http1Request ? (request.body ?? null) : new RequestBody(request);
}

/** Whether something of it was taken or lost, so that it cannot be sent a second time. */
export function isTouched(body: CallBody): boolean {
  return body instanceof Readable && (body.consumed || body.destroyed);
}

/** Bytes that came of it so far. */
export function bytesOf(body: CallBody): number {
  return body instanceof Readable ? body.bytes : (body?.byteLength ?? 0);
}

/**
 * The body of a request on its way to a function. It stands between the two so that whoever reads it may destroy it
 * without touching the client's connection; nothing is taken from the request before the first read, and what is left
 * after `destroy` is read away.
 */
export class RequestBody extends Readable {
  /** Bytes read from the client. */
  bytes = 0;
  readonly #request: IncomingMessage;
  #attached = false;
  readonly #onData = (chunk: Buffer): void => {
    this.bytes += chunk.byteLength;
    if (!this.push(chunk)) this.#request.pause();
  };
  readonly #onEnd = (): void => {
    this.push(null);
  };
  readonly #onError = (err: Error): void => {
    this.destroy(err);
  };
  readonly #onClose = (): void => {
    if (!this.#request.readableEnded) this.destroy(new Error("the client left"));
  };

  constructor(request: IncomingMessage) {
    super();
    this.#request = request;
    this.on("error", ignore);
  }

  /** Whether anything was taken from the request: then it cannot be sent a second time. */
  get consumed(): boolean {
    return this.#attached;
  }

  override _read(): void {
    if (this.#attached) {
      this.#request.resume();
      return;
    }
    this.#attached = true;
    this.#request.on("data", this.#onData).on("end", this.#onEnd).on("error", this.#onError).on("close", this.#onClose);
  }

  override _destroy(err: Error | null, done: (err: Error | null) => void): void {
    const request = this.#request;
    // Not `error`: one may be on its way already, and unheard it would end the process.
    request.off("data", this.#onData).off("end", this.#onEnd).off("close", this.#onClose);
    if (!request.destroyed) request.resume();
    done(err);
  }
}
