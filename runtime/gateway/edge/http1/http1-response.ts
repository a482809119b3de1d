import { EventEmitter } from "node:events";
import { STATUS_CODES, validateHeaderName } from "node:http";
import type { Socket } from "node:net";

import { writeHeaders, type CachedHeaders, type WrittenHeaders } from "../../../core/headers/cached-headers.ts";
import { httpDate } from "../../../http1/http-date.ts";
import { joinedBody, latin1 } from "../../../http1/latin1.ts";

const status = { switching: 101, noContent: 204, notModified: 304 } as const;
const lastChunk = "0\r\n\r\n";
/** Names of headers that were found to be good; bounded, as functions choose them. */
const goodNames = new Set<string>();
const mostNames = 2_000;

/** What it needs of the connection it is written to. */
export interface ResponseConnection {
  readonly socket: Socket;
  /** The lines of a head that say that it is kept, and for how long. */
  readonly goesOn: string;
  /** Called when the last byte was handed to the kernel. */
  readonly onWritten: () => void;
  /** Closes it, a response that is under way with it. */
  cut(): void;
}

/** What of a request tells how its response is framed. */
export interface RespondingTo {
  /** It has no body, whatever its head says: the request is a HEAD. */
  readonly headOnly: boolean;
  /** Chunks are not known: the client speaks HTTP/1.0. */
  readonly old: boolean;
}

/**
 * The response to a request over HTTP/1.1: what calls use of a `ServerResponse`, with the same events in the same order. It
 * is written as node:http writes it: the headers given, then `Date`, what becomes of the connection, and the framing.
 */
export class Http1Response extends EventEmitter {
  statusCode = 200;
  shouldKeepAlive = true;
  /** As of a `ServerResponse`: whether the head was made. */
  headersSent = false;
  writableEnded = false;
  destroyed = false;
  readonly #connection: ResponseConnection;
  readonly #to: RespondingTo;
  /** Waits for the first bytes of the body. */
  #head = "";
  #chunked = false;
  #bodiless = false;
  #drainAwaited = false;

  constructor(connection: ResponseConnection, to: RespondingTo) {
    super();
    this.#connection = connection;
    this.#to = to;
    this.#bodiless = to.headOnly;
  }

  /**
   * `first` stands before the other headers.
   * @throws Error when a header cannot be sent; then nothing was sent
   */
  writeHead(
    code: number,
    headers: readonly string[] | Readonly<Record<string, string>> = [],
    first?: CachedHeaders,
  ): this {
    if (this.headersSent) throw new Error("the head was sent");
    const list = isList(headers) ? headers : Object.entries(headers).flat();
    const before = first?.written(writeReply) ?? none;
    const { lines, hasLength, hasDate } = writeReply(list);
    let head = `HTTP/1.1 ${code} ${STATUS_CODES[code] ?? "unknown"}\r\n` + before.lines + lines;
    this.#bodiless = this.#to.headOnly || code === status.noContent || code === status.notModified;
    const measured = before.hasLength || hasLength || this.#bodiless;
    this.#chunked = !measured && !this.#to.old;
    // Without chunks only the end of the connection ends it.
    if (!measured && this.#to.old) this.shouldKeepAlive = false;
    if (!before.hasDate && !hasDate) head += "Date: " + httpDate() + "\r\n";
    head += this.shouldKeepAlive ? this.#connection.goesOn : "Connection: close\r\n";
    this.#head = head + (this.#chunked ? "Transfer-Encoding: chunked\r\n\r\n" : "\r\n");
    this.statusCode = code;
    this.headersSent = true;
    return this;
  }

  /** Takes back a head of which nothing was sent, so that another one can be made; false: it is out. */
  takeBack(): boolean {
    if (!this.headersSent) return true;
    if (this.#head === "") return false;
    this.#head = "";
    this.headersSent = false;
    return true;
  }

  /** Whether its client would take the end of the connection for the end of the body. */
  get endsByClose(): boolean {
    return this.#to.old && this.headersSent;
  }

  /** Whether its client knows no chunks. */
  get old(): boolean {
    return this.#to.old;
  }

  /** Whether no body may be answered. */
  get headOnly(): boolean {
    return this.#to.headOnly;
  }

  /** The connection answered the request itself, with this status; without one the client left. */
  abandon(code?: number): void {
    this.statusCode = code ?? this.statusCode;
    this.headersSent = code !== undefined;
    this.destroyed = true;
    this.emit("close");
  }

  /** Sends `100 Continue`, unless a head was made. */
  writeContinue(): void {
    if (!this.headersSent && !this.destroyed) this.#connection.socket.write("HTTP/1.1 100 Continue\r\n\r\n", "latin1");
  }

  /**
   * False asks to wait for `drain`. Text is latin1, one character per byte. Bytes are the socket's until `done` is called,
   * or for good.
   */
  write(chunk: string | Uint8Array, done?: BufferEncoding | (() => void)): boolean {
    const { socket } = this.#connection;
    if (this.destroyed || socket.writableEnded) return true;
    this.#send(chunk, () => {
      if (typeof done === "function") done();
      this.#flushed();
    });
    if (socket.writableLength === 0) return true;
    this.#drainAwaited = true;
    return false;
  }

  end(chunk: string | Uint8Array = "", encoding: BufferEncoding = "utf8"): this {
    if (this.writableEnded) return this;
    this.writableEnded = true;
    const { socket, onWritten } = this.#connection;
    if (this.destroyed || socket.writableEnded) return this;
    const isText = typeof chunk === "string" && chunk !== "" && encoding !== "latin1";
    this.#send(isText ? Buffer.from(chunk, encoding) : chunk, onWritten, this.#chunked ? lastChunk : "");
    return this;
  }

  /**
   * Answers 101 with these headers, flat: the connection speaks another protocol from then on.
   * @throws Error when a header cannot be sent; then nothing was sent
   */
  switchProtocols(headers: readonly string[]): void {
    const { lines } = writeReply(headers);
    this.statusCode = status.switching;
    this.headersSent = true;
    this.writableEnded = true;
    const head = `HTTP/1.1 ${status.switching} ${STATUS_CODES[status.switching]}\r\n${lines}Date: ${httpDate()}\r\n\r\n`;
    this.#connection.socket.write(head, "latin1");
  }

  /** Sends bytes of a response that was made elsewhere, its head first; `done` hears when they are with the kernel. */
  passOn(bytes: Uint8Array, done: (err?: Error | null) => void): void {
    const { socket } = this.#connection;
    if (this.destroyed || socket.writableEnded) done(new Error("the client left"));
    else {
      this.headersSent = true;
      socket.write(bytes, done);
    }
  }

  /** What was passed on was the whole response. */
  endPassedOn(): void {
    this.writableEnded = true;
    this.#connection.onWritten();
  }

  /** Cuts the connection, unless the response is over. */
  destroy(): this {
    if (!this.destroyed) this.#connection.cut();
    return this;
  }

  #flushed(): void {
    if (!this.#drainAwaited || this.#connection.socket.writableLength > 0) return;
    this.#drainAwaited = false;
    this.emit("drain");
  }

  /** Sends head, bytes and `end`, as far as there are any; `done` hears when they are with the kernel. */
  #send(chunk: string | Uint8Array, done: (err?: Error | null) => void, end = ""): void {
    const { socket } = this.#connection;
    const head = this.#head;
    this.#head = "";
    const size = this.#bodiless ? 0 : chunk.length;
    if (size === 0) {
      socket.write(head + end, "latin1", done);
      return;
    }
    const before = this.#chunked ? `${head}${size.toString(16)}\r\n` : head;
    const after = (this.#chunked ? "\r\n" : "") + end;
    if (typeof chunk === "string") socket.write(before + chunk + after, "latin1", done);
    else if (size <= joinedBody) socket.write(before + latin1(chunk) + after, "latin1", done);
    else if (before === "" && after === "") socket.write(chunk, done);
    else {
      socket.cork();
      socket.write(before, "latin1");
      if (after === "") socket.write(chunk, done);
      else {
        socket.write(chunk);
        // In order: once this is with the kernel, the bytes are, too.
        socket.write(after, "latin1", done);
      }
      socket.uncork();
    }
  }
}

function isList(headers: readonly string[] | Readonly<Record<string, string>>): headers is readonly string[] {
  return Array.isArray(headers);
}

const none: WrittenHeaders = { lines: "", hasLength: false, hasDate: false };

function writeReply(list: readonly string[]): WrittenHeaders {
  return writeHeaders(list, checkName);
}

/** @throws TypeError when there may be no such header */
function checkName(name: string): void {
  if (goodNames.has(name)) return;
  validateHeaderName(name);
  if (goodNames.size < mostNames) goodNames.add(name);
}
