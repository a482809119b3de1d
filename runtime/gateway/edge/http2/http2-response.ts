import {
  ServerResponse,
  validateHeaderName,
  validateHeaderValue,
  type IncomingMessage,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
} from "node:http";
import type { ServerHttp2Stream } from "node:http2";

import { isHopByHop } from "../../../core/headers/hop-by-hop.ts";
import { cutStream } from "./cut-stream.ts";

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];
type Written = (err: Error | null | undefined) => void;
type Done = (err?: Error | null) => void;

/** The response to a request over HTTP/2; headers that concern a connection of HTTP/1.1 are left out. */
export class Http2Response extends ServerResponse {
  readonly #stream: ServerHttp2Stream;
  #head: Record<string, string | string[]> | undefined;
  #trailers: Record<string, string | string[]> = {};

  constructor(request: IncomingMessage, stream: ServerHttp2Stream) {
    super(request);
    this.#stream = stream;
    Object.defineProperty(this, "headersSent", { get: () => this.#head !== undefined });
    Object.defineProperty(this, "writableFinished", { get: () => this.finished && stream.writableFinished });
    stream.on("drain", () => this.emit("drain"));
    stream.on("wantTrailers", () => stream.sendTrailers(this.#trailers));
    stream.once("finish", () => {
      if (this.finished) this.emit("finish");
    });
    stream.once("close", () => {
      this.destroyed = true;
      this.emit("close");
    });
  }

  override writeHead(status: number, reason?: string | Headers, headers?: Headers): this {
    if (this.#head !== undefined) throw new Error("the head was sent");
    const list = typeof reason === "string" ? headers : (reason ?? headers);
    const head: Record<string, string | string[]> = {};
    for (const [name, value] of Object.entries(this.getHeaders())) add(head, name, value);
    if (Array.isArray(list)) {
      for (let index = 0; index + 1 < list.length; index += 2) add(head, String(list[index]), list[index + 1]);
    } else if (list !== undefined) {
      for (const [name, value] of Object.entries(list)) {
        delete head[name.toLowerCase()];
        add(head, name, value);
      }
    }
    this.statusCode = status;
    this.#head = head;
    return this;
  }

  override write(chunk: string | Uint8Array, encoding?: BufferEncoding | Written | null, done?: Written): boolean {
    this.flushHeaders();
    if (!this.#mayWrite() || chunk.length === 0) return true;
    return this.#stream.write(bytesOf(chunk, encoding), typeof encoding === "function" ? encoding : done);
  }

  override end(chunk?: string | Uint8Array | Done | null, encoding?: BufferEncoding | Done | null, done?: Done): this {
    if (this.finished) return this;
    const body = typeof chunk === "function" ? undefined : (chunk ?? undefined);
    const empty = body === undefined || body.length === 0;
    const after = [chunk, encoding, done].find((argument) => typeof argument === "function");
    if (after !== undefined) this.once("finish", after);
    // A head that is all there is ends the stream itself: gRPC tells errors so.
    this.#respond(empty && Object.keys(this.#trailers).length === 0);
    this.finished = true;
    if (!this.#mayWrite()) {
      // Replies without a body have finished their stream already.
      if (this.#stream.writableFinished) process.nextTick(() => this.emit("finish"));
    } else if (empty) this.#stream.end();
    else this.#stream.end(bytesOf(body, encoding));
    return this;
  }

  override flushHeaders(): void {
    this.#respond(false);
  }

  override writeContinue(): void {
    if (!this.#stream.headersSent && !this.#stream.destroyed) this.#stream.additionalHeaders({ ":status": 100 });
  }

  /** @throws TypeError when one cannot be sent */
  override addTrailers(trailers: OutgoingHttpHeaders | readonly [string, string][]): void {
    const added: Record<string, string | string[]> = {};
    const list = Array.isArray(trailers) ? trailers : Object.entries(trailers);
    for (const [name, value] of list) add(added, name, value);
    this.#trailers = added;
  }

  /** Takes back a head of which nothing was sent, so that another one can be made; false: it is out. */
  takeBack(): boolean {
    if (this.#head !== undefined && (this.#stream.headersSent || this.#stream.destroyed)) return false;
    this.#head = undefined;
    return true;
  }

  override destroy(): this {
    this.destroyed = true;
    cutStream(this.#stream);
    return this;
  }

  #mayWrite(): boolean {
    return !this.#stream.destroyed && !this.#stream.closed && !this.#stream.writableEnded;
  }

  #respond(endStream: boolean): void {
    if (this.#head === undefined) this.writeHead(this.statusCode);
    const stream = this.#stream;
    if (stream.headersSent || stream.destroyed || stream.closed) return;
    const head = { ":status": this.statusCode, ...this.#head };
    stream.respond(head, endStream ? { endStream } : { waitForTrailers: true });
  }
}

function add(head: Record<string, string | string[]>, name: string, value: OutgoingHttpHeader | undefined): void {
  const lowerName = name.toLowerCase();
  if (value === undefined || isHopByHop(lowerName)) return;
  validateHeaderName(lowerName);
  const values = (Array.isArray(value) ? value : [value]).map(String);
  for (const one of values) validateHeaderValue(lowerName, one);
  const known = head[lowerName];
  const all = known === undefined ? values : [known, values].flat();
  head[lowerName] = all.length === 1 ? (all[0] ?? "") : all;
}

function bytesOf(chunk: string | Uint8Array, encoding: unknown): Uint8Array {
  if (typeof chunk !== "string") return chunk;
  return Buffer.from(chunk, typeof encoding === "string" && Buffer.isEncoding(encoding) ? encoding : "utf8");
}
