import { EventEmitter } from "node:events";

import type { CachedHeaders } from "../../../core/headers/cached-headers.ts";
import type { HeaderList } from "../../../core/headers/header-list.ts";
import { isHopByHop } from "../../../core/headers/hop-by-hop.ts";
import { checkHeaderName, checkHeaderValue } from "../../../http1/write-headers.ts";
import type { Exchange, ReplyHeaders } from "../../calls/exchange.ts";
import { readRequestHead } from "../../edge/read-request-head.ts";
import { statusOf } from "../../error-handler.ts";
import { PlatformError } from "../../../api/platform-error.ts";

/** A request that the gateway makes itself, for a page of the console. */
export interface HeldRequest {
  readonly method: string;
  /** Path and query, as `port` would get them. */
  readonly url: string;
  /** Flat, with `Host`, without those of the body. */
  readonly headers: HeaderList;
  readonly body: Buffer;
  /** Address of whoever asks for it. */
  readonly address: string;
  /** Most bytes of the reply that are held. */
  readonly limit: number;
  /** Milliseconds from its head for which a reply is held that does not end. */
  readonly longest: number;
}

/** The whole reply, or the begin of it. */
export interface HeldReply {
  readonly status: number;
  /** Flat, without those of one connection. */
  readonly headers: HeaderList;
  readonly body: Buffer;
  /** Whether the reply went on. */
  readonly truncated: boolean;
}

/** An exchange whose request is there and whose reply is held, so that it can be told to a page as data. */
export class HeldExchange extends EventEmitter implements Exchange {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly remoteAddress: string;
  readonly head: ReturnType<typeof readRequestHead>;
  readonly body: Buffer | undefined;
  readonly complete = true;
  readonly received: number;
  readonly awaited = false;
  readonly requestTrailers = undefined;
  readonly wantsTrailers = false;
  readonly upgrade = undefined;
  readonly unread = false;
  shouldKeepAlive = true;
  statusCode = 200;
  writableEnded = false;
  destroyed = false;
  /**
   * Resolves when the reply is whole, or was broken off; undefined if nothing of it came. Rejects with why the gateway
   * refused the request.
   */
  readonly replied: Promise<HeldReply | undefined>;
  readonly #limit: number;
  readonly #longest: number;
  #timer: NodeJS.Timeout | undefined;
  readonly #chunks: Buffer[] = [];
  #size = 0;
  #headers: string[] | undefined;
  /** Whether a first part of the reply was written, so that its head stays. */
  #begun = false;
  #failure: Error | undefined;

  constructor({ method, url, headers, body, address, limit, longest }: HeldRequest) {
    super();
    this.method = method;
    this.url = url;
    this.rawHeaders = body.length === 0 ? headers : [...headers, "Content-Length", String(body.length)];
    this.remoteAddress = address;
    this.head = readRequestHead(this.rawHeaders, address);
    this.body = body.length === 0 ? undefined : body;
    this.received = body.length;
    this.#limit = limit;
    this.#longest = longest;
    this.replied = new Promise((resolve, reject) =>
      this.once("close", () => (this.#failure === undefined ? resolve(this.#reply()) : reject(this.#failure))),
    );
  }

  get headersSent(): boolean {
    return this.#headers !== undefined;
  }

  writeHead(status: number, headers: ReplyHeaders = [], cached?: CachedHeaders): this {
    if (this.#headers !== undefined) throw new Error("the head was already made");
    const own = isList(headers) ? headers : Object.entries(headers).flat();
    this.#headers = endToEnd([...(cached?.list ?? []), ...own]);
    this.statusCode = status;
    this.#timer ??= setTimeout(() => this.destroy(), this.#longest);
    return this;
  }

  passExpectation(): boolean {
    return false;
  }

  sendInterim(): void {}

  write(chunk: string | Uint8Array, done?: "latin1" | (() => void)): boolean {
    this.#take(typeof chunk === "string" ? Buffer.from(chunk, "latin1") : Buffer.from(chunk));
    if (typeof done === "function") queueMicrotask(done);
    return true;
  }

  end(chunk: string | Uint8Array = "", encoding: BufferEncoding = "utf8"): this {
    if (this.writableEnded || this.destroyed) return this;
    this.#take(typeof chunk === "string" ? Buffer.from(chunk, encoding) : Buffer.from(chunk));
    if (this.destroyed) return this;
    this.writableEnded = true;
    this.#close();
    return this;
  }

  /** A page is told the body only. */
  sendTrailers(): void {}

  takeBack(): boolean {
    if (this.#begun) return false;
    this.#headers = undefined;
    return true;
  }

  isLost(): boolean {
    return this.destroyed;
  }

  destroy(): this {
    if (this.destroyed || this.writableEnded) return this;
    this.destroyed = true;
    this.#close();
    return this;
  }

  /** Ends it with an error of the gateway; breaks it off if the reply has begun. */
  fail(err: unknown): void {
    if (this.headersSent) {
      this.destroy();
      return;
    }
    this.#failure = err instanceof Error ? err : new Error(String(err));
    this.writeHead(err instanceof PlatformError ? statusOf(err.code) : 500).end();
  }

  #take(chunk: Buffer): void {
    this.#begun = true;
    if (this.destroyed || chunk.length === 0) return;
    const room = this.#limit - this.#size;
    this.#chunks.push(chunk.subarray(0, room));
    this.#size += Math.min(chunk.length, room);
    if (chunk.length > room) this.destroy();
  }

  /** Not at once: whoever ends it is in the middle of its own work. */
  #close(): void {
    clearTimeout(this.#timer);
    setImmediate(() => this.emit("close"));
  }

  #reply(): HeldReply | undefined {
    if (this.#headers === undefined) return undefined;
    const body = Buffer.concat(this.#chunks, this.#size);
    return { status: this.statusCode, headers: this.#headers, body, truncated: !this.writableEnded };
  }
}

function isList(headers: ReplyHeaders): headers is readonly string[] {
  return Array.isArray(headers);
}

/** @throws UnsendableHeader when one of them cannot be sent */
function endToEnd(list: HeaderList): string[] {
  const kept: string[] = [];
  for (let index = 0; index + 1 < list.length; index += 2) {
    const [name = "", value = ""] = list.slice(index, index + 2);
    if (isHopByHop(name.toLowerCase())) continue;
    checkHeaderName(name);
    checkHeaderValue(name, value);
    kept.push(name, value);
  }
  return kept;
}
