import { EventEmitter } from "node:events";
import { constants, type ServerHttp2Stream } from "node:http2";

import { isHopByHop } from "../../../core/headers/hop-by-hop.ts";
import type { CachedHeaders } from "../../../core/headers/cached-headers.ts";
import { checkHeaderName, checkHeaderValue } from "../../../http1/write-headers.ts";
import type { Exchange, ReplyHeaders } from "../../calls/exchange.ts";
import type { RequestHead } from "../../calls/request-head.ts";
import { Http2Body } from "./http2-body.ts";
import type { Http2Head } from "./http2-head.ts";
import { passedTrailers } from "../passed-trailers.ts";

const interim = { continue: 100 } as const;

type HeaderTable = Record<string, string | string[]>;

/** A request over HTTP/2 and its reply, from which the connection headers of HTTP/1.1 are left out. */
export class Http2Exchange extends EventEmitter implements Exchange {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly remoteAddress: string;
  readonly head: RequestHead;
  readonly body: Http2Body | undefined;
  readonly upgrade = undefined;
  statusCode = 200;
  /** Without effect: over HTTP/2 a reply does not control its connection. */
  shouldKeepAlive = true;
  writableEnded = false;
  destroyed = false;
  unread = false;
  readonly #stream: ServerHttp2Stream;
  #head: HeaderTable | undefined;
  #trailers: HeaderTable = {};
  /** Whether the client waits for a 100, and who gives it. */
  #expectation: "none" | "own" | "passed";

  readonly requestTrailers = (): readonly string[] => passedTrailers(this.body?.trailers ?? []);

  readonly #hsts: string | undefined;

  /** `hsts`: value of `Strict-Transport-Security` in the reply, whatever the function says; absent: none. */
  constructor(stream: ServerHttp2Stream, sent: Http2Head, head: RequestHead, hasBody: boolean, hsts?: string) {
    super();
    this.#hsts = hsts;
    this.#stream = stream;
    this.method = sent.method;
    this.url = sent.url;
    this.rawHeaders = sent.rawHeaders;
    this.remoteAddress = stream.session?.socket.remoteAddress ?? "";
    this.head = head;
    this.#expectation = head.expect && hasBody ? "own" : "none";
    this.body = hasBody ? new Http2Body(stream, () => this.#continue()) : undefined;
    // A stream that is not read to its end never closes.
    if (!hasBody) stream.resume();
    stream.on("drain", () => this.emit("drain"));
    stream.on("wantTrailers", () => stream.sendTrailers(this.#trailers));
    stream.once("finish", () => this.#leaveRestUnread());
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
    return this.body?.readableFlowing === true && this.#expectation !== "passed";
  }

  get wantsTrailers(): boolean {
    return this.head.wantsTrailers;
  }

  get headersSent(): boolean {
    return this.#head !== undefined;
  }

  passExpectation(): boolean {
    if (this.#expectation === "own") this.#expectation = "passed";
    return this.#expectation === "passed";
  }

  sendInterim(status: number, headers: readonly string[]): void {
    const stream = this.#stream;
    if (this.#head !== undefined || stream.headersSent || stream.destroyed || stream.closed) return;
    if (status === interim.continue) {
      if (this.#expectation === "none") return;
      this.#expectation = "none";
    }
    stream.additionalHeaders({ ":status": status, ...tableOf(headers) });
  }

  writeHead(status: number, headers: ReplyHeaders = [], cached?: CachedHeaders): this {
    if (this.#head !== undefined) throw new Error("the head was already made");
    const list = isList(headers) ? [...(cached?.list ?? []), ...headers] : Object.entries(headers).flat();
    this.#head = tableOf(list);
    if (this.#hsts !== undefined) this.#head["strict-transport-security"] = this.#hsts;
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
    // A reply without body and trailers ends the stream with its head: gRPC reports errors in this way.
    this.#respond(chunk.length === 0 && Object.keys(this.#trailers).length === 0);
    this.writableEnded = true;
    if (!this.#mayWrite()) this.#leaveRestUnread();
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

  /** Resets the stream, unless the whole reply was sent: then it only stops reading. */
  destroy(): this {
    this.destroyed = true;
    const stream = this.#stream;
    if (stream.closed || stream.destroyed) return this;
    if (stream.writableFinished) this.#stopReading();
    // Not close(), which ends the stream first: an incomplete reply would look complete.
    else stream.destroy(new Error("the reply was broken off"));
    return this;
  }

  /** Cuts it because its client does not read the bytes sent to it. */
  cutUnread(): void {
    this.unread = true;
    this.destroy();
  }

  #continue(): void {
    if (this.#expectation === "own") this.sendInterim(interim.continue, []);
  }

  /** Once the reply was sent, does not ask for the rest of the body (RFC 9113 §8.1). */
  #leaveRestUnread(): void {
    if (this.writableEnded && this.#stream.writableFinished && !this.complete && !this.#stream.destroyed)
      this.#stopReading();
  }

  /** Tells the client, without an error, to stop sending, and discards what was received. */
  #stopReading(): void {
    if (!this.#stream.closed) this.#stream.close(constants.NGHTTP2_NO_ERROR);
    // A stream with unread bytes is never destroyed, and keeps counting towards its connection's limit of open streams.
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
    const previous = table[name];
    table[name] = previous === undefined ? value : [previous, value].flat();
  }
  return table;
}
