import type { Socket } from "node:net";

import { HeadCache } from "../../../http1/head-cache.ts";
import { HeadAssembler } from "../../../http1/head-assembler.ts";
import { requestHeads, type RequestText } from "../../../http1/request-text.ts";
import { followEndedClient } from "../../../process/sockets/ended-client.ts";
import type { RequestHead } from "../../calls/request-head.ts";
import { refusedHead } from "../refused-head.ts";
import { EarlyBytes } from "./early-bytes.ts";
import { Http1Body } from "./http1-body.ts";
import { Http1Exchange } from "./http1-exchange.ts";
import { Http1Upgrade, type HandedConnection } from "./http1-upgrade.ts";
import { resetConnection } from "./socket-below.ts";
import { isWebSocketHandshake } from "./websocket-handshake.ts";
import { writeRaw } from "./write-raw.ts";

/**
 * Most bytes of an unwanted body that are discarded so that the connection can be reused. A client that has sent its
 * whole body reuses a connection that the response keeps alive; what the kernels still buffer of the body should not
 * close it.
 */
const maxDiscarded = 1_048_576;
/** Milliseconds until a client that ended its side is first probed, whether it still reads. */
const firstProbe = 500;
const statuses = { malformed_request: 400, headers_too_large: 431 } as const;

/**
 * What a connection waits for: its first byte, the rest of a head, another request, the rest of an unwanted body, or
 * the client's end of the connection; nothing while a request is in flight.
 */
export type Awaited = "first-byte" | "head" | "request" | "rest" | "close" | "nothing";

/** The owner of connections. */
export interface Http1Owner {
  /** The header lines of a response that keeps the connection alive. */
  readonly goesOn: string;
  /** A line of each head about TLS, or nothing. */
  readonly hsts?: string;
  /**
   * Interprets a head.
   * @throws PlatformError when it breaks a rule
   */
  understand(text: RequestText, remoteAddress: string): RequestHead;
  /** Handles a request, whose body may still be arriving. */
  serve(exchange: Http1Exchange): void;
  /** Replies to a request whose head breaks a rule, which ends the connection. */
  refuse(exchange: Http1Exchange, err: unknown): void;
  /** A request broke the rules of HTTP/1.1 or ended early: `status` was the reply, and the connection ends. */
  onMalformed(text: RequestText, status: number, why: string): void;
  /** The connection speaks another protocol from now on. */
  onHandedOver(connection: Http1Connection): void;
  onClosed(connection: Http1Connection): void;
}

/**
 * One client's connection of HTTP/1.1. Each request is replied to before the next one is parsed (`security.md` H10). A
 * request that breaks a rule ends the connection: nothing after it is served.
 */
export class Http1Connection implements HandedConnection {
  readonly socket: Socket;
  /** Since when it waits, in milliseconds of `performance.now()`. */
  since: number;
  readonly #owner: Http1Owner;
  readonly #cache = new HeadCache<RequestText>();
  readonly #heads = new HeadAssembler(requestHeads, this.#cache);
  /** Whether it was cut because its client did not read the bytes sent to it. */
  unread = false;
  #awaited: Awaited = "first-byte";
  #address: string | undefined;
  /** The last head as interpreted, because clients often repeat it. */
  #lastHead: { readonly text: RequestText; readonly head: RequestHead } | undefined;
  #exchange: Http1Exchange | undefined;
  /** Body of the last request, if some of it is still to come. */
  #body: Http1Body | undefined;
  /** Bytes received before their turn. */
  readonly #early = new EarlyBytes();
  /** Body bytes up to which an unwanted body is discarded before the connection is ended instead. */
  #discardUntil = 0;
  isLast = false;
  /** Whether the client ended its side while it was owed a reply. */
  #isEnded = false;
  readonly onWritten = (err?: Error | null): void => {
    if (err === undefined || err === null) this.#finish();
  };
  readonly #onData = (chunk: Buffer): void => this.#read(chunk);
  readonly #onEnd = (): void => this.#end();
  readonly #onError = (): void => void this.socket.destroy();
  readonly #onClose = (): void => this.#close();

  /** `since`: when it was accepted, from which its first head has its time. */
  constructor(socket: Socket, owner: Http1Owner, since: number) {
    this.socket = socket;
    this.#owner = owner;
    this.since = since;
    socket.on("data", this.#onData).on("end", this.#onEnd).on("error", this.#onError).on("close", this.#onClose);
  }

  get hsts(): string {
    return this.#owner.hsts ?? "";
  }

  get goesOn(): string {
    return this.#owner.goesOn;
  }

  get remoteAddress(): string {
    return (this.#address ??= this.socket.remoteAddress ?? "");
  }

  get awaited(): Awaited {
    return this.#exchange === undefined ? this.#awaited : "nothing";
  }

  /** Drops what is cached for the next request. */
  rest(): void {
    this.#cache.clear();
    this.#lastHead = undefined;
  }

  /** Cuts it because its client does not read the bytes sent to it. */
  cutUnread(): void {
    this.unread = true;
    this.cut();
  }

  /** Refuses a head that was not complete in time. */
  expire(): void {
    this.#refuse(408, "its head was not complete in time");
  }

  handOver(): readonly Buffer[] {
    const { socket } = this;
    socket.off("data", this.#onData).off("end", this.#onEnd);
    socket.off("error", this.#onError).off("close", this.#onClose).pause();
    this.#owner.onHandedOver(this);
    return this.#early.take();
  }

  /** Closes it at once, with a reset where the client would otherwise mistake that for the end of the reply. */
  cut(): void {
    if (this.#exchange?.endsByClose === true) resetConnection(this.socket);
    else this.socket.destroy();
  }

  #read(chunk: Buffer): void {
    if (this.#body !== undefined) this.#readBody(this.#body, chunk);
    else if (this.#exchange !== undefined) this.#keepEarly(chunk);
    else if (!this.isLast) this.#readHead(chunk);
  }

  #readHead(chunk: Buffer): void {
    const { begun } = this.#heads;
    const read = this.#heads.read(chunk, 0);
    if (typeof read !== "number") this.#refuse(statuses[read.code], read.why);
    else if (read !== -1) this.#begin(chunk, read);
    else if (this.#awaited === "first-byte") this.#awaited = "head";
    else if (!begun) this.#waitFor("head");
  }

  /** The head is complete; the bytes after it begin at `at` in `chunk`. */
  #begin(chunk: Buffer, at: number): void {
    const text = this.#heads.head;
    this.#heads.begin();
    let head: RequestHead;
    try {
      head = this.#understand(text);
    } catch (err) {
      this.isLast = true;
      const refused = (this.#exchange = new Http1Exchange(this, text, refusedHead, undefined));
      refused.shouldKeepAlive = false;
      this.#owner.refuse(refused, err);
      return;
    }
    this.isLast = head.upgrade !== undefined || (text.version === "1.1" ? head.closes : !head.keeps);
    const length = head.chunked ? undefined : (head.contentLength ?? 0);
    const afterHead = at === 0 ? chunk : chunk.subarray(at);
    // After `Expect: 100-continue` a body is a stream even if it arrived: reading it sends the 100.
    const whole = length === 0 || (length !== undefined && afterHead.length >= length && !head.expect);
    const body = whole ? (length === 0 ? undefined : afterHead.subarray(0, length)) : this.#stream(head, length);
    const exchange = (this.#exchange = new Http1Exchange(this, text, head, body));
    if (isWebSocketHandshake(text, head)) exchange.upgrade = new Http1Upgrade(exchange, this);
    exchange.shouldKeepAlive = !this.isLast;
    // Clients of HTTP/1.0 do not know interim responses (RFC 9110 §10.1.1).
    if (head.expect && !whole && text.version === "1.1") exchange.expectContinue();
    if (whole && afterHead.length > length) this.#keepEarly(afterHead.subarray(length));
    this.#owner.serve(exchange);
    if (!whole && afterHead.length > 0 && this.#body !== undefined) this.#readBody(this.#body, afterHead);
  }

  #understand(text: RequestText): RequestHead {
    if (this.#lastHead?.text === text) return this.#lastHead.head;
    const head = this.#owner.understand(text, this.remoteAddress);
    // A queue-worker's key is checked on every request.
    this.#lastHead = head.invokeKey === undefined ? { text, head } : undefined;
    return head;
  }

  #stream({ expect }: RequestHead, length: number | undefined): Http1Body {
    return (this.#body ??= new Http1Body(length, this.socket, expect ? () => this.#exchange?.onWanted() : undefined));
  }

  #readBody(body: Http1Body, chunk: Buffer): void {
    const rest = body.receive(chunk);
    if (body.fault !== undefined) return this.#abortBody(body, body.fault);
    if (!body.complete) {
      if (this.#exchange === undefined && body.bytes > this.#discardUntil) this.#linger();
      return;
    }
    this.#body = undefined;
    if (this.#exchange === undefined) this.#waitFor("request");
    if (rest !== undefined) this.#keepEarly(rest);
    this.#readEarly();
  }

  /** A body breaks the rules, or its client left: the request is refused unless its reply is complete. */
  #abortBody(body: Http1Body, fault: string): void {
    const exchange = this.#exchange;
    this.isLast = true;
    if (exchange === undefined) return this.#linger();
    exchange.shouldKeepAlive = false;
    if (exchange.writableEnded) return;
    if (!exchange.takeBack()) return this.cut();
    const status = fault.startsWith("a line that is too long") ? 413 : 400;
    this.#exchange = undefined;
    writeRaw(this.socket, status, `Cannot read request: its body has ${fault}`, exchange.headOnly);
    this.#linger();
    exchange.abandon(this.socket.readableEnded ? undefined : status);
    body.destroy(new Error(`the body has ${fault}`));
  }

  #keepEarly(chunk: Buffer): void {
    if (this.isLast && this.#exchange?.upgrade === undefined) return;
    if (this.#early.hold(chunk)) this.socket.pause();
  }

  /** The whole reply was sent. */
  #finish(): void {
    const exchange = this.#exchange;
    if (exchange === undefined) return;
    this.#exchange = undefined;
    this.#waitFor("request");
    if (this.isLast || !exchange.shouldKeepAlive) this.#linger();
    else if (this.#body !== undefined) this.#discard(this.#body);
    exchange.close();
    this.#readEarly();
    // What is left of the bytes before the client's end is no whole request.
    if (this.#isEnded && !this.socket.destroyed) this.#end();
  }

  /** Discards the rest of an unwanted body, unless it is too long. */
  #discard(body: Http1Body): void {
    if (body.left > maxDiscarded) return this.#linger();
    this.#discardUntil = body.bytes + maxDiscarded;
    this.#waitFor("rest");
    body.destroy();
    this.socket.resume();
  }

  /** Reads the early bytes once it is their turn. */
  #readEarly(): void {
    if (this.#early.empty || this.#exchange !== undefined || this.#body !== undefined || this.isLast) return;
    if (this.socket.destroyed || this.socket.writableEnded) return;
    const [first, ...rest] = this.#early.take();
    this.socket.resume();
    if (first !== undefined) this.#read(rest.length === 0 ? first : Buffer.concat([first, ...rest]));
  }

  /** The client ended its side: whole requests before that are replied to, an incomplete one is refused. */
  #end(): void {
    const exchange = this.#exchange;
    if (this.awaited === "close") this.socket.destroySoon();
    else if (this.#body !== undefined && exchange !== undefined) this.#abortBody(this.#body, "no end");
    else if (this.#heads.begun && !this.isLast) this.#refuse(400, "its head has no end");
    // Each end of a WebSocket ends it.
    else if (exchange?.upgrade !== undefined) this.cut();
    else if (exchange !== undefined) this.#owe(exchange);
    else this.socket.end();
  }

  #owe(exchange: Http1Exchange): void {
    if (this.#early.empty) exchange.shouldKeepAlive = false;
    if (this.#isEnded) return;
    this.#isEnded = true;
    followEndedClient(this.socket, { probe: () => this.#exchange?.probe(), firstProbe });
  }

  #refuse(status: number, why: string): void {
    const text = this.#heads.head;
    writeRaw(this.socket, status, `Cannot read request: ${why}`, text.method === "HEAD");
    this.#owner.onMalformed(text, status, why);
    this.#linger();
  }

  /** Sends nothing more; the client may still read what was sent. */
  #linger(): void {
    this.isLast = true;
    this.#early.take();
    this.#body?.destroy();
    this.#body = undefined;
    this.#waitFor("close");
    if (this.socket.readableEnded) this.socket.destroySoon();
    else this.socket.end();
    this.socket.resume();
  }

  #waitFor(what: Awaited): void {
    this.#awaited = what;
    this.since = performance.now();
  }

  #close(): void {
    const exchange = this.#exchange;
    this.#body?.destroy(new Error("the client left"));
    this.#exchange = undefined;
    this.#body = undefined;
    this.#early.take();
    this.#owner.onClosed(this);
    exchange?.close();
  }
}
