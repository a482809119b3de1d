import { Server, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { Duplex } from "node:stream";

import { connectionOptions } from "../../api/http-grammar.ts";
import { isHopByHop } from "../../core/headers/hop-by-hop.ts";
import { headerValue } from "../../core/headers/header-list.ts";
import { ResponseParser, type ResponseSink } from "../../http1/response-parser.ts";
import { chunkEnd, chunkStart, lastChunk } from "../../http1/chunk-frame.ts";
import type { Exchange } from "../calls/exchange.ts";

/** Headers that concern only the client's connection, which node:http does not handle. */
const clientConnectionHeaders: ReadonlySet<string> = new Set([
  "connection",
  "expect",
  "keep-alive",
  "te",
  "upgrade",
  "http2-settings",
]);

/**
 * Carries one request to node:http and its response back to the client. To the server of node:http it is a connection,
 * which may be any stream ("connection" event of `http.Server`). Each lane passes one head that is known to be
 * well-formed, so the framing of requests does not depend on node:http's parser. Whatever the client speaks, node:http
 * sees HTTP/1.1.
 */
export class RestLane extends Duplex implements ResponseSink {
  /** Address of the client. */
  readonly remoteAddress: string;
  readonly #exchange: Exchange;
  readonly #parser: ResponseParser;
  #bodyBegun = false;
  /** Whether the whole response was passed on, or it is not wanted any more. */
  #over = false;
  /** Whether a head was made but not sent yet. */
  #headPending = false;
  /** Chunks of node:http's last write that are still to be sent to the client, plus one while that write is parsed. */
  #unsent = 0;
  #written: (() => void) | undefined;
  readonly #onSent = (): void => {
    this.#unsent -= 1;
    if (this.#unsent > 0) return;
    const written = this.#written;
    this.#written = undefined;
    written?.();
  };

  constructor(exchange: Exchange) {
    super();
    this.#exchange = exchange;
    this.remoteAddress = exchange.remoteAddress;
    this.#parser = new ResponseParser(this);
    this.#parser.begin({ headOnly: exchange.method === "HEAD", upgrade: undefined });
    exchange.once("close", () => this.#leave());
    this.on("error", () => {});
    this.push(headOf(exchange));
  }

  /** Connects the lane to node:http: reading `request` starts the body, and the end of `response` ends the lane. */
  join(request: IncomingMessage, response: ServerResponse): void {
    if (this.#exchange.body !== undefined) request.once("resume", () => this.#sendBody());
    response.once("close", () => this.destroy());
  }

  onHead(status: number, headers: readonly string[]): void {
    // An error was sent already, because the body arrived too slowly.
    if (this.#exchange.headersSent) return this.#stop();
    if (connectionOptions(headerValue(headers, "connection") ?? "").includes("close"))
      this.#exchange.shouldKeepAlive = false;
    this.#exchange.writeHead(status, endToEnd(headers));
    this.#headPending = true;
  }

  onData(chunk: Buffer): void {
    this.#headPending = false;
    this.#unsent += 1;
    this.#exchange.write(chunk, this.#onSent);
  }

  onEnd(): void {
    this.#headPending = false;
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
    this.#unsent = 1;
    this.#written = done;
    this.#parser.parse(chunk);
    if (this.#headPending) this.#exchange.write("", "latin1");
    this.#headPending = false;
    this.#onSent();
  }

  override _destroy(err: Error | null, done: (err: Error | null) => void): void {
    // node:http closed the lane before its response was complete.
    if (!this.#over) this.#exchange.destroy();
    this.#stop();
    done(err);
  }

  /** The client left, or the reply did not come from node:http. */
  #leave(): void {
    if (this.#over) return;
    this.#stop();
    this.destroy(new Error("the client left"));
  }

  #stop(): void {
    this.#over = true;
    this.#parser.stop();
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
    if (!clientConnectionHeaders.has(name.toLowerCase())) text += `${name}: ${rawHeaders[index + 1] ?? ""}\r\n`;
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

/**
 * The node:http server for all requests that are not calls. It listens to no port; each request comes on its own lane.
 */
export class RestServer extends Server {
  /** `handle` receives the requests of all lanes. */
  constructor(handle: RequestListener) {
    super({ requestTimeout: 0, headersTimeout: 0, requireHostHeader: false }, (request, response) => {
      const lane: unknown = request.socket;
      if (lane instanceof RestLane) lane.join(request, response);
      handle(request, response);
    });
    this.maxHeadersCount = 0;
    this.timeout = 0;
  }

  /** Passes the request to the handler. */
  take(exchange: Exchange): void {
    this.emit("connection", new RestLane(exchange));
  }
}
