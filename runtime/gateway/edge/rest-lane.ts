import { Server, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { Duplex } from "node:stream";

import { connectionOptions } from "../../api/http-grammar.ts";
import { isHopByHop } from "../../core/headers/hop-by-hop.ts";
import { headerValue } from "../../core/headers/header-list.ts";
import { ResponseParser, type ResponseSink } from "../../http1/response-parser.ts";
import { chunkEnd, chunkStart, lastChunk } from "../../http1/chunk-frame.ts";
import type { Exchange } from "../calls/exchange.ts";

/** Concern the connection to the client alone, which is not node:http's. */
const own: ReadonlySet<string> = new Set(["connection", "expect", "keep-alive", "te", "upgrade", "http2-settings"]);

/**
 * Carries one request to node:http, and what that answers back to the client: what a server of node:http has for a
 * connection, which may be any stream ("connection" event of `http.Server`). It gets heads that were read and found
 * well-formed, one for each lane, so nothing of how requests are told apart depends on node:http's parser; and whatever the
 * client speaks, node:http sees HTTP/1.1.
 */
export class RestLane extends Duplex implements ResponseSink {
  /** Of the client. */
  readonly remoteAddress: string;
  readonly #exchange: Exchange;
  readonly #answers: ResponseParser;
  #bodyBegun = false;
  /** The answer was passed on to its end, or nobody wants it. */
  #over = false;
  /** A head was made and did not leave yet. */
  #headDue = false;
  /** Pieces of what node:http wrote last that the client's connection did not send yet, and one while it is read. */
  #held = 0;
  #written: (() => void) | undefined;
  readonly #onSent = (): void => {
    this.#held -= 1;
    if (this.#held > 0) return;
    const written = this.#written;
    this.#written = undefined;
    written?.();
  };

  constructor(exchange: Exchange) {
    super();
    this.#exchange = exchange;
    this.remoteAddress = exchange.remoteAddress;
    this.#answers = new ResponseParser(this);
    this.#answers.begin({ headOnly: exchange.method === "HEAD", upgrade: undefined });
    exchange.once("close", () => this.#leave());
    this.on("error", () => {});
    this.push(headOf(exchange));
  }

  /** What node:http made of the request: its body is waited for when `request` is read, and `response` ends the lane. */
  join(request: IncomingMessage, response: ServerResponse): void {
    if (this.#exchange.body !== undefined) request.once("resume", () => this.#sendBody());
    response.once("close", () => this.destroy());
  }

  onAnswerHead(status: number, headers: readonly string[]): void {
    // Answered already, because its body came too slowly.
    if (this.#exchange.headersSent) return this.#stop();
    if (connectionOptions(headerValue(headers, "connection") ?? "").includes("close"))
      this.#exchange.shouldKeepAlive = false;
    this.#exchange.writeHead(status, endToEnd(headers));
    this.#headDue = true;
  }

  onAnswerData(chunk: Buffer): void {
    this.#headDue = false;
    this.#held += 1;
    this.#exchange.write(chunk, this.#onSent);
  }

  onAnswerEnd(): void {
    this.#headDue = false;
    this.#over = true;
    this.#exchange.end();
  }

  onSwitch(): void {
    this.onMalformed();
  }

  onMalformed(): void {
    this.#exchange.destroy();
    this.#stop();
  }

  override _read(): void {
    const { body } = this.#exchange;
    if (this.#bodyBegun && !this.#over && body !== undefined && !(body instanceof Uint8Array)) body.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (err?: Error | null) => void): void {
    if (this.#over) return done();
    this.#held = 1;
    this.#written = done;
    this.#answers.parse(chunk);
    if (this.#headDue) this.#exchange.write("", "latin1");
    this.#headDue = false;
    this.#onSent();
  }

  override _destroy(err: Error | null, done: (err: Error | null) => void): void {
    // Cut by node:http, before its answer was whole.
    if (!this.#over) this.#exchange.destroy();
    this.#stop();
    done(err);
  }

  /** The client left, or was answered without node:http. */
  #leave(): void {
    if (this.#over) return;
    this.#stop();
    this.destroy(new Error("the client left"));
  }

  #stop(): void {
    this.#over = true;
    this.#answers.stop();
  }

  #sendBody(): void {
    if (this.#bodyBegun || this.#over) return;
    this.#bodyBegun = true;
    const { body, head } = this.#exchange;
    if (body === undefined) return;
    if (body instanceof Uint8Array) {
      this.push(body);
      return;
    }
    const { chunked } = head;
    body.on("data", (chunk: Buffer) => {
      if (this.#over) return;
      if (chunked) this.push(chunkStart(chunk.length), "latin1");
      let more = this.push(chunk);
      if (chunked) more = this.push(chunkEnd, "latin1");
      if (!more) body.pause();
    });
    body.once("end", () => {
      if (chunked && !this.#over) this.push(lastChunk, "latin1");
    });
  }
}

function headOf({ method, url, rawHeaders }: Exchange): Buffer {
  let text = `${method} ${url} HTTP/1.1\r\n`;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? "";
    if (!own.has(name.toLowerCase())) text += `${name}: ${rawHeaders[index + 1] ?? ""}\r\n`;
  }
  return Buffer.from(`${text}Connection: keep-alive\r\n\r\n`, "latin1");
}

function endToEnd(headers: readonly string[]): string[] {
  const kept: string[] = [];
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? "";
    if (!isHopByHop(name.toLowerCase())) kept.push(name, headers[index + 1] ?? "");
  }
  return kept;
}

/** node:http, for all that is no call: it listens to no port, and gets its requests one by one. */
export class RestServer extends Server {
  /** `handle` gets what comes by lanes. */
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
  take(exchange: Exchange): void {
    this.emit("connection", new RestLane(exchange));
  }
}
