import { Server, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { Duplex } from "node:stream";

import type { RequestHead } from "../calls/request-head.ts";
import type { Http1Request } from "./http1/http1-request.ts";
import type { Http1Response } from "./http1/http1-response.ts";

/** Concern the connection to the client alone, which is not node:http's. */
const own: ReadonlySet<string> = new Set(["connection", "expect", "keep-alive", "te", "upgrade", "http2-settings"]);

/**
 * Carries one request to node:http, and what that answers back to the client: what a server of node:http has for a
 * connection, which may be any stream ("connection" event of `http.Server`). It gets heads that were read and found well-formed,
 * one for each lane, so nothing of how requests are told apart depends on node:http's parser.
 */
export class RestLane extends Duplex {
  /** Of the client. */
  readonly remoteAddress: string | undefined;
  readonly #request: Http1Request;
  readonly #response: Http1Response;
  readonly #head: RequestHead;
  #bodyBegun = false;
  #over = false;

  constructor(request: Http1Request, response: Http1Response, head: RequestHead) {
    super();
    this.#request = request;
    this.#response = response;
    this.#head = head;
    this.remoteAddress = request.socket.remoteAddress;
    response.once("close", () => this.#leave());
    this.on("error", () => {});
    // node:http ends what it answers to HTTP/1.0 with the connection, and gives it no length.
    if (response.old) response.shouldKeepAlive = false;
    this.push(this.#writeHead());
  }

  /** What node:http made of the request: its body is waited for when `request` is read, and `response` ends the lane. */
  join(request: IncomingMessage, response: ServerResponse): void {
    // An answer before the body that its client asks about is the connection's last, and says so.
    const keep = (): boolean => (response.shouldKeepAlive = this.#response.shouldKeepAlive);
    if (this.#head.expect && !keep()) this.#request.stream?.once("resume", keep);
    if (this.#request.body !== undefined) request.once("resume", () => this.#sendBody());
    response.once("close", () => {
      if (this.#over) return;
      this.#over = true;
      if (!response.writableFinished) this.#response.destroy();
      else {
        this.#response.shouldKeepAlive &&= response.shouldKeepAlive;
        this.#response.endPassedOn();
      }
      this.destroy();
    });
  }

  override _read(): void {
    if (this.#bodyBegun && !this.#over) this.#request.stream?.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (err?: Error | null) => void): void {
    if (this.#over) done();
    else this.#response.passOn(chunk, done);
  }

  override _destroy(err: Error | null, done: (err: Error | null) => void): void {
    // Cut by node:http, before its answer was whole.
    if (!this.#over) this.#response.destroy();
    this.#over = true;
    done(err);
  }

  /** The client left, or was answered without node:http. */
  #leave(): void {
    if (this.#over) return;
    this.#over = true;
    this.destroy(new Error("the client left"));
  }

  #writeHead(): Buffer {
    const { method, url, rawHeaders } = this.#request;
    // Of HTTP/1.0, so that what is answered has no chunks.
    let text = `${method} ${url} HTTP/${this.#response.old ? "1.0" : "1.1"}\r\n`;
    for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
      const name = rawHeaders[index] ?? "";
      if (!own.has(name.toLowerCase())) text += `${name}: ${rawHeaders[index + 1] ?? ""}\r\n`;
    }
    return Buffer.from(
      `${text}Connection: ${this.#response.shouldKeepAlive || this.#head.expect ? "keep-alive" : "close"}\r\n\r\n`,
      "latin1",
    );
  }

  #sendBody(): void {
    if (this.#bodyBegun || this.#over) return;
    this.#bodyBegun = true;
    const { body } = this.#request;
    if (body === undefined) return;
    if (body instanceof Uint8Array) {
      this.push(body);
      return;
    }
    const { chunked } = this.#head;
    body.on("data", (chunk: Buffer) => {
      if (this.#over) return;
      if (chunked) this.push(`${chunk.length.toString(16)}\r\n`, "latin1");
      let more = this.push(chunk);
      if (chunked) more = this.push("\r\n", "latin1");
      if (!more) body.pause();
    });
    body.once("end", () => {
      if (chunked && !this.#over) this.push("0\r\n\r\n", "latin1");
    });
  }
}

/** node:http, for all that is no call: it listens to no port, and gets its requests one by one. */
export class RestServer extends Server {
  /** `handle` gets what comes by lanes, too. */
  constructor(handle: RequestListener) {
    super({ requestTimeout: 0, headersTimeout: 0, requireHostHeader: false }, (request, response) => {
      const lane: unknown = request.socket;
      if (lane instanceof RestLane) lane.join(request, response);
      handle(request, response);
    });
    this.maxHeadersCount = 0;
    this.timeout = 0;
  }

  /** Carries the request to the handler. */
  take(request: Http1Request, response: Http1Response, head: RequestHead): void {
    this.emit("connection", new RestLane(request, response, head));
  }
}
