import { EventEmitter } from "node:events";
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";

import type { CachedHeaders } from "../../../core/headers/cached-headers.ts";
import { chunkEnd, chunkStart, lastChunkWith } from "../../../http1/chunk-frame.ts";
import { httpDate } from "../../../http1/http-date.ts";
import type { RequestText } from "../../../http1/request-text.ts";
import { sendChunk } from "../../../http1/send-chunk.ts";
import { writeHeaders, type WrittenHeaders } from "../../../http1/write-headers.ts";
import type { ClientUpgrade, Exchange, ReplyHeaders } from "../../calls/exchange.ts";
import type { RequestHead } from "../../calls/request-head.ts";
import { passedTrailers } from "../passed-trailers.ts";
import type { Http1Body } from "./http1-body.ts";

/** What each reply begins with. */
const protocol = "HTTP/1.1 ";
/** Most zeros before the size of a chunk: readers bound its digits. */
const mostZeros = 8;
const status = { continue: 100, switching: 101, noContent: 204, notModified: 304 } as const;

/** The connection that carries an exchange. */
export interface ExchangeConnection {
  readonly socket: Socket;
  /** Address of its client. */
  readonly remoteAddress: string;
  /** The header lines of a response that keeps it alive, and for how long. */
  readonly goesOn: string;
  /** A line of each head about TLS, or nothing. */
  readonly hsts?: string;
  /** Whether it was cut because its client did not read the bytes sent to it. */
  readonly unread: boolean;
  /** Whether it carries no request after this one. */
  readonly isLast: boolean;
  /** Called when the kernel has the last byte. */
  readonly onWritten: () => void;
  /** Closes it, even in the middle of a reply. */
  cut(): void;
}

/**
 * A request over HTTP/1.1 and its reply, which is written in the order of node:http: the given headers, then `Date`,
 * `Connection` and the framing.
 */
export class Http1Exchange extends EventEmitter implements Exchange {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly head: RequestHead;
  readonly body: Buffer | Http1Body | undefined;
  /** Whether its client speaks HTTP/1.0 and so cannot read a chunked body. */
  readonly old: boolean;
  /** Trailers of a chunked body are checked and dropped. */
  readonly requestTrailers = undefined;
  upgrade: ClientUpgrade | undefined;
  statusCode = 200;
  shouldKeepAlive = true;
  headersSent = false;
  writableEnded = false;
  destroyed = false;
  readonly #connection: ExchangeConnection;
  /** Held back until the first bytes of the body are written; empty once sent. */
  #head = "";
  /** Bytes of `protocol` that were sent before the head was made. */
  #begun = 0;
  #chunked = false;
  /** Zeros that were sent before the size of the next chunk. */
  #zeros = 0;
  #bodiless: boolean;
  #drainAwaited = false;
  /** Lines after the last chunk. */
  #trailers = "";
  /** Whether the client waits for a 100, and who gives it. */
  #expectation: "none" | "own" | "passed" = "none";

  constructor(
    connection: ExchangeConnection,
    { method, target, version, rawHeaders }: Pick<RequestText, "method" | "target" | "version" | "rawHeaders">,
    head: RequestHead,
    body: Buffer | Http1Body | undefined,
  ) {
    super();
    this.#connection = connection;
    this.method = method;
    this.url = target;
    this.rawHeaders = rawHeaders;
    this.head = head;
    this.body = body;
    this.old = version === "1.0";
    this.#bodiless = method === "HEAD";
  }

  get remoteAddress(): string {
    return this.#connection.remoteAddress;
  }

  get complete(): boolean {
    const { body } = this;
    return body === undefined || body instanceof Uint8Array || body.complete;
  }

  get received(): number {
    const { body } = this;
    if (body === undefined) return 0;
    return body instanceof Uint8Array ? body.byteLength : body.bytes;
  }

  get awaited(): boolean {
    const { body } = this;
    if (body === undefined || body instanceof Uint8Array || this.#expectation === "passed") return false;
    return body.readableFlowing === true;
  }

  get wantsTrailers(): boolean {
    return this.head.wantsTrailers && !this.old;
  }

  get unread(): boolean {
    return this.#connection.unread;
  }

  /** Whether the reply must not have a body. */
  get headOnly(): boolean {
    return this.method === "HEAD";
  }

  /** Whether its client would mistake the end of the connection for the end of the body. */
  get endsByClose(): boolean {
    return this.old && this.headersSent;
  }

  writeHead(code: number, headers: ReplyHeaders = [], cached?: CachedHeaders): this {
    if (this.headersSent) throw new Error("the head was already made");
    const list = isList(headers) ? headers : Object.entries(headers).flat();
    const before = cached?.made(writeReply) ?? none;
    const { lines, hasLength, hasDate } = writeReply(list);
    let head =
      `${protocol}${code} ${STATUS_CODES[code] ?? "unknown"}\r\n` +
      (this.#connection.hsts ?? "") +
      before.lines +
      lines;
    this.#bodiless = this.headOnly || code === status.noContent || code === status.notModified;
    const hasKnownEnd = before.hasLength || hasLength || this.#bodiless;
    this.#chunked = !hasKnownEnd && !this.old;
    // Without chunks only the end of the connection ends the body.
    if (!hasKnownEnd && this.old) this.shouldKeepAlive = false;
    if (!before.hasDate && !hasDate) head += "Date: " + httpDate() + "\r\n";
    head += this.shouldKeepAlive ? this.#connection.goesOn : "Connection: close\r\n";
    this.#head = head + (this.#chunked ? "Transfer-Encoding: chunked\r\n\r\n" : "\r\n");
    this.statusCode = code;
    this.headersSent = true;
    return this;
  }

  takeBack(): boolean {
    if (!this.headersSent) return true;
    if (this.#head === "") return false;
    this.#head = "";
    this.headersSent = false;
    return true;
  }

  write(chunk: string | Uint8Array, done?: "latin1" | (() => void)): boolean {
    const { socket } = this.#connection;
    if (this.#isOver()) return true;
    this.#send(chunk, () => {
      if (typeof done === "function") done();
      this.#flushed();
    });
    if (socket.writableLength === 0) return true;
    this.#drainAwaited = true;
    return false;
  }

  end(chunk: string | Uint8Array = "", encoding?: "latin1"): this {
    if (this.writableEnded) return this;
    this.writableEnded = true;
    const { onWritten } = this.#connection;
    if (this.#isOver()) return this;
    const isText = typeof chunk === "string" && chunk !== "" && encoding !== "latin1";
    const last = this.#chunked ? lastChunkWith(this.#trailers) : "";
    this.#send(isText ? Buffer.from(chunk, "utf8") : chunk, onWritten, last);
    return this;
  }

  sendTrailers(trailers: readonly string[]): void {
    this.#trailers = writeHeaders(passedTrailers(trailers)).lines;
  }

  isLost(): boolean {
    const { socket } = this.#connection;
    return socket.destroyed || (socket.writableEnded && !this.writableEnded);
  }

  /** Cuts the connection, unless the exchange is over. */
  destroy(): this {
    if (!this.destroyed) this.#connection.cut();
    return this;
  }

  /** The client waits for a 100, without which its connection is not reused: it may send its body or not. */
  expectContinue(): void {
    this.#expectation = "own";
    this.shouldKeepAlive = false;
  }

  /** The body is read for the first time. */
  onWanted(): void {
    if (this.#expectation === "own") this.sendInterim(status.continue, []);
  }

  passExpectation(): boolean {
    if (this.#expectation === "own") this.#expectation = "passed";
    return this.#expectation === "passed";
  }

  sendInterim(code: number, headers: readonly string[]): void {
    if (this.headersSent || this.#isOver() || this.old) return;
    if (code === status.continue) {
      if (this.#expectation === "none") return;
      this.#expectation = "none";
      this.shouldKeepAlive = !this.#connection.isLast;
    }
    const head = `${protocol}${code} ${STATUS_CODES[code] ?? "unknown"}\r\n${writeReply(headers).lines}\r\n`;
    this.#connection.socket.write(head.slice(this.#begun), "latin1");
    this.#begun = 0;
  }

  /**
   * Finds out whether a client that ended its side still reads, by sending the next byte of what comes anyway: of the words
   * that begin each reply, or a zero before the size of the next chunk.
   */
  probe(): void {
    if (this.#isOver() || this.writableEnded) return;
    const { socket } = this.#connection;
    if (!this.headersSent || this.#head !== "") {
      socket.write(protocol.charAt(this.#begun), "latin1");
      this.#begun = Math.min(this.#begun + 1, protocol.length);
    } else if (this.#chunked && this.#zeros < mostZeros) {
      socket.write("0", "latin1");
      this.#zeros += 1;
    }
  }

  /**
   * Replies 101 with these headers, flat: the connection speaks another protocol from then on.
   * @throws UnsendableHeader when a header cannot be sent; then nothing was sent
   */
  switchProtocols(headers: readonly string[]): void {
    const { lines } = writeReply(headers);
    this.statusCode = status.switching;
    this.headersSent = true;
    this.writableEnded = true;
    const head = `HTTP/1.1 ${status.switching} ${STATUS_CODES[status.switching]}\r\n${lines}Date: ${httpDate()}\r\n\r\n`;
    this.#connection.socket.write(head, "latin1");
  }

  /** Ends it after the connection itself replied with status `code`, or, without one, after the client left. */
  abandon(code?: number): void {
    this.statusCode = code ?? this.statusCode;
    this.headersSent = code !== undefined;
    this.close();
  }

  /** Ends it, whether its reply was sent or not. */
  close(): void {
    this.destroyed = true;
    this.emit("close");
  }

  /**
   * Whether nothing more can be sent. A socket that was cut is marked as destroyed before it closes, and completes each
   * write at once: a source that keeps writing would prevent it from ever closing.
   */
  #isOver(): boolean {
    const { socket } = this.#connection;
    return this.destroyed || socket.destroyed || socket.writableEnded;
  }

  #flushed(): void {
    if (!this.#drainAwaited || this.#connection.socket.writableLength > 0) return;
    this.#drainAwaited = false;
    this.emit("drain");
  }

  /** Sends the pending head, `chunk` and `end`; `done` is called when the kernel has them. */
  #send(chunk: string | Uint8Array, done: (err?: Error | null) => void, end = ""): void {
    const { socket } = this.#connection;
    const head = this.#begun === 0 ? this.#head : this.#head.slice(this.#begun);
    this.#begun = 0;
    this.#head = "";
    const size = this.#bodiless ? 0 : chunk.length;
    if (size > 0) this.#zeros = 0;
    if (size === 0) {
      socket.write(head + end, "latin1", done);
      return;
    }
    if (this.#chunked) sendChunk(socket, head + chunkStart(size), chunk, chunkEnd + end, done);
    else sendChunk(socket, head, chunk, end, done);
  }
}

function isList(headers: ReplyHeaders): headers is readonly string[] {
  return Array.isArray(headers);
}

const none: WrittenHeaders = { lines: "", hasLength: false, hasDate: false };

function writeReply(list: readonly string[]): WrittenHeaders {
  return writeHeaders(list);
}
