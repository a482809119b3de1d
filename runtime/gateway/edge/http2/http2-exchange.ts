import { EventEmitter } from "node:events";
import { constants, type ServerHttp2Stream } from "node:http2";

import { headerValue } from "../../../core/headers/header-list.ts";
import { isHopByHop } from "../../../core/headers/hop-by-hop.ts";
import type { CachedHeaders } from "../../../core/headers/cached-headers.ts";
import { checkHeaderName, checkHeaderValue } from "../../../http1/write-headers.ts";
import type { Exchange, ReplyHeaders } from "../../calls/exchange.ts";
import type { RequestHead } from "../../calls/request-head.ts";
import { Http2Body } from "./http2-body.ts";
import type { Http2Head } from "./http2-head.ts";
import { passedTrailers } from "./passed-trailers.ts";

type HeaderTable = Record<string, string | string[]>;

/** A request over HTTP/2 and its reply; headers that concern a connection of HTTP/1.1 are left out of it. */
export class Http2Exchange extends EventEmitter implements Exchange {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly remoteAddress: string;
  readonly head: RequestHead;
  readonly body: Http2Body | undefined;
  readonly upgrade = undefined;
  statusCode = 200;
  /** Over HTTP/2 a reply says nothing of its connection. */
  shouldKeepAlive = true;
  writableEnded = false;
  destroyed = false;
  unread = false;
  readonly #stream: ServerHttp2Stream;
  #head: HeaderTable | undefined;
  #trailers: HeaderTable = {};
  readonly requestTrailers = (): readonly string[] => passedTrailers(this.body?.trailers ?? []);

  constructor(stream: ServerHttp2Stream, sent: Http2Head, head: RequestHead, hasBody: boolean) {
    super();
    this.#stream = stream;
    this.method = sent.method;
    this.url = sent.url;
    this.rawHeaders = sent.rawHeaders;
    this.remoteAddress = stream.session?.socket.remoteAddress ?? "";
    this.head = head;
    this.body = hasBody ? new Http2Body(stream, () => this.#continue()) : undefined;
    // One that nobody reads to its end is never closed.
    if (!hasBody) stream.resume();
    stream.on("drain", () => this.emit("drain"));
    stream.on("wantTrailers", () => stream.sendTrailers(this.#trailers));
    stream.once("finish", () => this.#leaveRest());
    stream.once("close", () => {
      this.destroyed = true;
      this.emit("close");
    });
  }

  get complete(): boolean {
    return this.body?.complete ?? true;
  }

  get received(): number {
    return this.body?.bytes ?? 0;
  }

  get awaited(): boolean {
    return this.body?.readableFlowing === true;
  }

  get wantsTrailers(): boolean {
    return headerValue(this.rawHeaders, "te") === "trailers";
  }

  get headersSent(): boolean {
    return this.#head !== undefined;
  }

  writeHead(status: number, headers: ReplyHeaders = [], cached?: CachedHeaders): this {
    if (this.#head !== undefined) throw new Error("the head was sent");
    const list = isList(headers) ? [...(cached?.list ?? []), ...headers] : Object.entries(headers).flat();
    this.#head = tableOf(list);
    this.statusCode = status;
    return this;
  }

  write(chunk: string | Uint8Array, done?: "latin1" | (() => void)): boolean {
    this.#respond(false);
    if (!this.#mayWrite() || chunk.length === 0) return true;
    return typeof chunk === "string"
      ? this.#stream.write(Buffer.from(chunk, "latin1"))
      : this.#stream.write(chunk, typeof done === "function" ? () => done() : undefined);
  }

  end(chunk: string | Uint8Array = "", encoding: BufferEncoding = "utf8"): this {
    if (this.writableEnded) return this;
    // A head that is all there is ends the stream itself: gRPC tells errors so.
    this.#respond(chunk.length === 0 && Object.keys(this.#trailers).length === 0);
    this.writableEnded = true;
    if (!this.#mayWrite()) this.#leaveRest();
    else if (chunk.length === 0) this.#stream.end();
    else this.#stream.end(typeof chunk === "string" ? Buffer.from(chunk, encoding) : chunk);
    return this;
  }

  sendTrailers(trailers: readonly string[]): void {
    this.#trailers = tableOf(passedTrailers(trailers));
  }

  takeBack(): boolean {
    if (this.#head !== undefined && (this.#stream.headersSent || this.#stream.destroyed)) return false;
    this.#head = undefined;
    return true;
  }

  isLost(): boolean {
    return this.#stream.destroyed;
  }

  /** Resets the stream, unless its reply was sent whole: then it only stops being read. */
  destroy(): this {
    this.destroyed = true;
    const stream = this.#stream;
    if (stream.closed || stream.destroyed) return this;
    if (stream.writableFinished) this.#stopReading();
    // Not by close(), which ends the stream first: what was sent of the reply would look whole.
    else stream.destroy(new Error("the reply was broken off"));
    return this;
  }

  /** Its client reads nothing of what waits for it. */
  cutUnread(): void {
    this.unread = true;
    this.destroy();
  }

  #continue(): void {
    if (this.head.expect && !this.#stream.headersSent && !this.#stream.destroyed)
      this.#stream.additionalHeaders({ ":status": 100 });
  }

  /** What is left of a body that nobody wants is not asked for (RFC 9113 §8.1). */
  #leaveRest(): void {
    if (this.writableEnded && this.#stream.writableFinished && !this.complete && !this.#stream.destroyed)
      this.#stopReading();
  }

  /** Asks for no more of what comes, without an error, and throws away what came. */
  #stopReading(): void {
    if (!this.#stream.closed) this.#stream.close(constants.NGHTTP2_NO_ERROR);
    // A stream with bytes to read is never destroyed, and counts among those that its connection may have open.
    this.body?.destroy();
    this.#stream.resume();
  }

  #mayWrite(): boolean {
    return !this.#stream.destroyed && !this.#stream.closed && !this.#stream.writableEnded;
  }

  #respond(endStream: boolean): void {
    const stream = this.#stream;
    if (this.#head === undefined || stream.headersSent || stream.destroyed || stream.closed) return;
    const head = { ":status": this.statusCode, ...this.#head };
    stream.respond(head, endStream ? { endStream } : { waitForTrailers: true });
  }
}

function isList(headers: ReplyHeaders): headers is readonly string[] {
  return Array.isArray(headers);
}

/** @throws UnsendableHeader when one of them cannot be sent */
function tableOf(list: readonly string[]): HeaderTable {
  const table: HeaderTable = {};
  for (let index = 0; index + 1 < list.length; index += 2) {
    const name = (list[index] ?? "").toLowerCase();
    const value = list[index + 1] ?? "";
    if (isHopByHop(name)) continue;
    checkHeaderName(name);
    checkHeaderValue(name, value);
    const known = table[name];
    table[name] = known === undefined ? value : [known, value].flat();
  }
  return table;
}
