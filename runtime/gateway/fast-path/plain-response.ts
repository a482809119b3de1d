import { EventEmitter } from "node:events";
import { STATUS_CODES, validateHeaderName } from "node:http";
import type { Socket } from "node:net";

import { joinedBody, latin1 } from "../../core/latin1.ts";
import { writeHeaders, type RepeatedHeaders, type WrittenHeaders } from "../../core/repeated-headers.ts";
import { httpDate } from "./http-date.ts";

const status = { noContent: 204, notModified: 304 } as const;
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
}

/**
 * The response to a plain request: what is used of a `ServerResponse`, with the same events in the same order. It is
 * written as node:http writes it: the headers given, then `Date`, what becomes of the connection, and the framing.
 */
export class PlainResponse extends EventEmitter {
  statusCode = 200;
  shouldKeepAlive = true;
  /** As of a `ServerResponse`: whether the head was made. */
  headersSent = false;
  writableEnded = false;
  destroyed = false;
  readonly #connection: ResponseConnection;
  /** Waits for the first bytes of the body. */
  #head = "";
  #chunked = false;
  #bodiless = false;
  #drainAwaited = false;

  constructor(connection: ResponseConnection) {
    super();
    this.#connection = connection;
  }

  /**
   * `first` stands before the other headers.
   * @throws Error when a header cannot be sent; then nothing was sent
   */
  writeHead(
    code: number,
    headers: readonly string[] | Readonly<Record<string, string>> = [],
    first?: RepeatedHeaders,
  ): this {
    if (this.headersSent) throw new Error("the head was sent");
    const list = isList(headers) ? headers : Object.entries(headers).flat();
    const before = first?.written(writeReply) ?? none;
    const { lines, hasLength, hasDate } = writeReply(list);
    let head = `HTTP/1.1 ${code} ${STATUS_CODES[code] ?? "unknown"}\r\n` + before.lines + lines;
    this.#bodiless = code === status.noContent || code === status.notModified;
    this.#chunked = !before.hasLength && !hasLength && !this.#bodiless;
    if (!before.hasDate && !hasDate) head += "Date: " + httpDate() + "\r\n";
    head += this.shouldKeepAlive ? this.#connection.goesOn : "Connection: close\r\n";
    this.#head = head + (this.#chunked ? "Transfer-Encoding: chunked\r\n\r\n" : "\r\n");
    this.statusCode = code;
    this.headersSent = true;
    return this;
  }

  /**
   * False asks to wait for `drain`. Text is latin1, one character per byte. Bytes are lent: they may change once this
   * returns true, more than `joinedBody` of them not before `drain` if it returns false.
   */
  write(chunk: string | Uint8Array, _encoding?: BufferEncoding): boolean {
    const { socket } = this.#connection;
    if (this.destroyed || socket.writableEnded) return true;
    this.#send(chunk, () => this.#flushed());
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
    const body = isText ? Buffer.from(chunk, encoding) : chunk;
    if (this.#chunked) {
      this.#send(body, undefined);
      socket.write(lastChunk, "latin1", onWritten);
    } else this.#send(body, onWritten);
    return this;
  }

  /** Cuts the connection. */
  destroy(): this {
    this.#connection.socket.destroy();
    return this;
  }

  #flushed(): void {
    if (!this.#drainAwaited || this.#connection.socket.writableLength > 0) return;
    this.#drainAwaited = false;
    this.emit("drain");
  }

  /** Sends head and bytes, as far as there are any; `done` hears when they are with the kernel. */
  #send(chunk: string | Uint8Array, done: ((err?: Error | null) => void) | undefined): void {
    const { socket } = this.#connection;
    const head = this.#head;
    this.#head = "";
    const size = this.#bodiless ? 0 : chunk.length;
    if (size === 0) {
      if (head !== "" || done !== undefined) socket.write(head, "latin1", done);
      return;
    }
    const before = this.#chunked ? `${head}${size.toString(16)}\r\n` : head;
    const after = this.#chunked ? "\r\n" : "";
    if (typeof chunk === "string") socket.write(before + chunk + after, "latin1", done);
    else if (size <= joinedBody) socket.write(before + latin1(chunk) + after, "latin1", done);
    else if (before === "") socket.write(chunk, done);
    else {
      socket.cork();
      socket.write(before, "latin1");
      socket.write(chunk, done);
      if (after !== "") socket.write(after, "latin1");
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
