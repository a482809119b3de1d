import type { Socket } from "node:net";

import { answerCutRequest } from "../client-error.ts";
import { PlainBody } from "./plain-body.ts";
import { readPlainRequest, type PlainHead } from "./plain-head.ts";
import { PlainRequest } from "./plain-request.ts";
import { PlainResponse, type ResponseConnection } from "./plain-response.ts";

/** Bytes of following requests that a client may send before the answer to the last one is out, and it is read no more. */
const mostHeld = 65_536;

/** What a connection asks of whoever has it. */
export interface ConnectionOwner {
  /** The lines of a head that say that the connection is kept. */
  readonly goesOn: string;
  /** False: the request is not for here; nothing was done with it. */
  handle(request: PlainRequest, response: PlainResponse): boolean;
  /** The connection is node:http's from now on, `bytes` first. */
  handOver(connection: PlainConnection, bytes: Buffer): void;
  onClosed(connection: PlainConnection): void;
}

/** A client's connection on which nothing came so far but plain requests, one after another. */
export class PlainConnection implements ResponseConnection {
  readonly socket: Socket;
  /** Since when it is idle, in milliseconds of `performance.now()`. */
  since = performance.now();
  /** Whether nothing has come yet. */
  fresh = true;
  readonly #owner: ConnectionOwner;
  #response: PlainResponse | undefined;
  /** Of the last request, if some of it is still to come. */
  #body: PlainBody | undefined;
  #held: Buffer | undefined;
  /** Of the last request; clients often say the same again. */
  #lastHead: PlainHead | undefined;
  readonly onWritten = (err?: Error | null): void => {
    if (err === undefined || err === null) this.#finish();
  };
  readonly #onData = (chunk: Buffer): void => this.#read(chunk);
  readonly #onEnd = (): void => this.#end();
  readonly #onError = (): void => void this.socket.destroy();
  readonly #onClose = (): void => this.#close();

  constructor(socket: Socket, owner: ConnectionOwner) {
    this.socket = socket;
    this.#owner = owner;
    socket.on("data", this.#onData).on("end", this.#onEnd).on("error", this.#onError).on("close", this.#onClose);
  }

  get goesOn(): string {
    return this.#owner.goesOn;
  }

  /** Whether a request is under way. */
  get busy(): boolean {
    return this.#response !== undefined || this.#body !== undefined;
  }

  /** Forgets what it keeps for the next request alone. */
  rest(): void {
    this.#lastHead = undefined;
  }

  /** Lets go of the socket, which is paused. */
  release(): Socket {
    const { socket } = this;
    socket.off("data", this.#onData).off("end", this.#onEnd);
    return socket.off("error", this.#onError).off("close", this.#onClose).pause();
  }

  #read(chunk: Buffer): void {
    if (this.#body !== undefined) return this.#readBody(this.#body, chunk);
    if (this.#response !== undefined) return this.#hold(chunk);
    this.fresh = false;
    const parts = readPlainRequest(chunk, this.#lastHead);
    if (parts === undefined) return this.#owner.handOver(this, chunk);
    this.#lastHead = parts.head;
    const request = new PlainRequest(parts, this.socket);
    const response = new PlainResponse(this);
    this.#response = response;
    this.#body = request.body instanceof PlainBody ? request.body : undefined;
    if (this.#owner.handle(request, response)) return;
    this.#response = undefined;
    this.#body = undefined;
    this.#owner.handOver(this, chunk);
  }

  #readBody(body: PlainBody, chunk: Buffer): void {
    const rest = body.receive(chunk);
    if (!body.complete) return;
    this.#body = undefined;
    if (rest !== undefined) this.#hold(rest);
    this.#goOn();
  }

  #hold(chunk: Buffer): void {
    this.#held = this.#held === undefined ? chunk : Buffer.concat([this.#held, chunk]);
    if (this.#held.length > mostHeld) this.socket.pause();
  }

  /** The response is out. */
  #finish(): void {
    const response = this.#response;
    if (response === undefined) return;
    this.#response = undefined;
    this.since = performance.now();
    response.emit("finish");
    response.destroyed = true;
    if (!response.shouldKeepAlive) this.socket.destroySoon();
    response.emit("close");
    this.#goOn();
  }

  /** Reads what came too early, if it is its turn. */
  #goOn(): void {
    const held = this.#held;
    if (held === undefined || this.busy || this.socket.destroyed || this.socket.writableEnded) return;
    this.#held = undefined;
    this.socket.resume();
    this.#read(held);
  }

  /** The client ended its side. As with node:http, it is not answered then; a request that it cut short is refused. */
  #end(): void {
    if (this.#body === undefined || this.#response === undefined) this.socket.end();
    else if (this.#response.headersSent) this.socket.destroy();
    else answerCutRequest(this.socket);
  }

  #close(): void {
    const response = this.#response;
    this.#body?.destroy(new Error("the client left"));
    this.#response = undefined;
    this.#body = undefined;
    this.#owner.onClosed(this);
    if (response === undefined) return;
    response.destroyed = true;
    response.emit("close");
  }
}
