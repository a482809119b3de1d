import { EventEmitter } from "node:events";
import { STATUS_CODES, validateHeaderName, validateHeaderValue } from "node:http";
import type { Socket } from "node:net";

import { joinedBody, latin1 } from "../../core/latin1.ts";
import { httpDate } from "./http-date.ts";

const status = { noContent: 204, notModified: 304 } as const;
const lastChunk = "0\r\n\r\n";
const nothing = new Uint8Array(0);
/** Names of headers that were found to be good; bounded, as functions choose them. */
const goodNames = new Set<string>();
const mostNames = 2_000;
const badInValue = /[^\t\x20-\x7e\x80-\xff]/;

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

  constructor(connection: ResponseConnection) {
    super();
    this.#connection = connection;
  }

  /** @throws Error when a header cannot be sent; then nothing was sent */
  writeHead(code: number, headers: readonly string[] | Readonly<Record<string, string>> = []): this {
    if (this.headersSent) throw new Error("the head was sent");
    const list = isList(headers) ? headers : Object.entries(headers).flat();
    let head = `HTTP/1.1 ${code} ${STATUS_CODES[code] ?? "unknown"}\r\n`;
    let framed = false;
    let dated = false;
    for (let index = 0; index + 1 < list.length; index += 2) {
      const name = list[index] ?? "";
      const value = list[index + 1] ?? "";
      if (!goodNames.has(name)) learn(name);
      if (badInValue.test(value)) validateHeaderValue(name, value);
      if (name.length === 14 && name.toLowerCase() === "content-length") framed = true;
      else if (name.length === 4 && name.toLowerCase() === "date") dated = true;
      head += name + ": " + value + "\r\n";
    }
    this.#bodiless = code === status.noContent || code === status.notModified;
    this.#chunked = !framed && !this.#bodiless;
    if (!dated) head += "Date: " + httpDate() + "\r\n";
    head += this.shouldKeepAlive ? this.#connection.goesOn : "Connection: close\r\n";
    this.#head = head + (this.#chunked ? "Transfer-Encoding: chunked\r\n\r\n" : "\r\n");
    this.statusCode = code;
    this.headersSent = true;
    return this;
  }

  /** False asks to wait for `drain`. */
  write(chunk: Uint8Array): boolean {
    const { socket } = this.#connection;
    if (this.destroyed || socket.writableEnded) return true;
    return this.#send(chunk, undefined);
  }

  end(chunk?: string | Uint8Array, encoding?: BufferEncoding): this {
    if (this.writableEnded) return this;
    this.writableEnded = true;
    const { socket, onWritten } = this.#connection;
    if (this.destroyed || socket.writableEnded) return this;
    if (typeof chunk === "string" && encoding === "latin1" && !this.#chunked && !this.#bodiless) {
      socket.write(this.#takeHead() + chunk, "latin1", onWritten);
    } else {
      const bytes = typeof chunk === "string" ? Buffer.from(chunk, encoding) : (chunk ?? nothing);
      if (this.#chunked) {
        this.#send(bytes, undefined);
        socket.write(lastChunk, "latin1", onWritten);
      } else this.#send(bytes, onWritten);
    }
    return this;
  }

  /** Cuts the connection. */
  destroy(): this {
    this.#connection.socket.destroy();
    return this;
  }

  #takeHead(): string {
    const head = this.#head;
    this.#head = "";
    return head;
  }

  #send(chunk: Uint8Array, done: (() => void) | undefined): boolean {
    const { socket } = this.#connection;
    const head = this.#takeHead();
    const size = this.#bodiless ? 0 : chunk.byteLength;
    if (size === 0) return head === "" && done === undefined ? true : socket.write(head, "latin1", done);
    const before = this.#chunked ? `${head}${size.toString(16)}\r\n` : head;
    if (before === "") return socket.write(chunk, done);
    const after = this.#chunked ? "\r\n" : "";
    if (size <= joinedBody) return socket.write(before + latin1(chunk) + after, "latin1", done);
    socket.cork();
    socket.write(before, "latin1");
    let more = socket.write(chunk, done);
    if (after !== "") more = socket.write(after, "latin1");
    socket.uncork();
    return more;
  }
}

function isList(headers: readonly string[] | Readonly<Record<string, string>>): headers is readonly string[] {
  return Array.isArray(headers);
}

/** @throws TypeError when there may be no such header */
function learn(name: string): void {
  validateHeaderName(name);
  if (goodNames.size < mostNames) goodNames.add(name);
}
