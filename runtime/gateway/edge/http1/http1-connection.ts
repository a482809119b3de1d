import type { Socket } from "node:net";

import { HeadCache } from "../../../http1/head-cache.ts";
import { HeadPieces } from "../../../http1/head-pieces.ts";
import { requestHeads, type RequestText } from "../../../http1/request-text.ts";
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
 * Bytes of a body nobody wants that are read away, so that the connection can go on. A client that sent all it had reuses a
 * connection that its answer said is kept: what the kernels hold of a body should not close it.
 */
const mostDropped = 1_048_576;
const statuses = { malformed_request: 400, headers_too_large: 431 } as const;

/**
 * What a connection waits for: its first byte, the rest of a head, another request, the rest of a body that nobody wants,
 * or that the client closes it, too; nothing while a request is under way.
 */
export type Awaited = "first-byte" | "head" | "request" | "rest" | "close" | "nothing";

/** Whoever has connections. */
export interface Http1Owner {
  /** The lines of a head that say that the connection is kept. */
  readonly goesOn: string;
  /**
   * What a head means.
   * @throws PlatformError when it breaks a rule
   */
  understand(text: RequestText, remoteAddress: string): RequestHead;
  /** A request came; its body may be on its way. */
  serve(exchange: Http1Exchange): void;
  /** Answers a request whose head breaks a rule, which ends the connection. */
  refuse(exchange: Http1Exchange, err: unknown): void;
  /** What came breaks the rules of HTTP/1.1, or ended too soon: it was answered with `status` and ends the connection. */
  onMalformed(text: RequestText, status: number, why: string): void;
  /** The connection speaks another protocol from now on. */
  onHandedOver(connection: Http1Connection): void;
  onClosed(connection: Http1Connection): void;
}

/**
 * One client's connection of HTTP/1.1: requests one after another, each answered before the next is looked at
 * (`security.md` H10). What breaks a rule ends it: nothing behind it is served.
 */
export class Http1Connection implements HandedConnection {
  readonly socket: Socket;
  /** Since when it waits, in milliseconds of `performance.now()`. */
  since = performance.now();
  readonly #owner: Http1Owner;
  readonly #memory = new HeadCache<RequestText>();
  readonly #heads = new HeadPieces(requestHeads, this.#memory);
  /** Whether it was cut because its client read nothing of what waited for it. */
  unread = false;
  #awaited: Awaited = "first-byte";
  #address: string | undefined;
  /** What the last head meant, as clients often say the same again. */
  #known: { readonly text: RequestText; readonly head: RequestHead } | undefined;
  #exchange: Http1Exchange | undefined;
  /** Of the last request, if some of it is still to come. */
  #body: Http1Body | undefined;
  /** What came before its turn. */
  readonly #early = new EarlyBytes();
  /** Bytes of a body that nobody wants up to which it is read away. */
  #dropsUntil = 0;
  /** Nothing behind the request under way is served. */
  #last = false;
  readonly onWritten = (err?: Error | null): void => {
    if (err === undefined || err === null) this.#finish();
  };
  readonly #onData = (chunk: Buffer): void => this.#read(chunk);
  readonly #onEnd = (): void => this.#end();
  readonly #onError = (): void => void this.socket.destroy();
  readonly #onClose = (): void => this.#close();

  constructor(socket: Socket, owner: Http1Owner) {
    this.socket = socket;
    this.#owner = owner;
    socket.on("data", this.#onData).on("end", this.#onEnd).on("error", this.#onError).on("close", this.#onClose);
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

  /** Forgets what it keeps for the next request alone. */
  rest(): void {
    this.#memory.forget();
    this.#known = undefined;
  }

  /** Its client reads nothing of what waits for it. */
  cutUnread(): void {
    this.unread = true;
    this.cut();
  }

  /** Answers a head that did not come to its end in time. */
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

  /** Closes it at once. A client that would take that for the end of the reply sees an error instead. */
  cut(): void {
    if (this.#exchange?.endsByClose === true) resetConnection(this.socket);
    else this.socket.destroy();
  }

  #read(chunk: Buffer): void {
    if (this.#body !== undefined) this.#readBody(this.#body, chunk);
    else if (this.#exchange !== undefined) this.#hold(chunk);
    else if (!this.#last) this.#readHead(chunk);
  }

  #readHead(chunk: Buffer): void {
    const { begun } = this.#heads;
    const read = this.#heads.read(chunk, 0);
    if (typeof read !== "number") this.#refuse(statuses[read.code], read.why);
    else if (read !== -1) this.#begin(chunk, read);
    else if (!begun) this.#await("head");
  }

  /** A head is whole; behind it `chunk` goes on at `at`. */
  #begin(chunk: Buffer, at: number): void {
    const text = this.#heads.head;
    this.#heads.begin();
    let head: RequestHead;
    try {
      head = this.#understand(text);
    } catch (err) {
      this.#last = true;
      const refused = (this.#exchange = new Http1Exchange(this, text, refusedHead, undefined));
      refused.shouldKeepAlive = false;
      this.#owner.refuse(refused, err);
      return;
    }
    this.#last = head.upgrade !== undefined || (text.version === "1.1" ? head.closes : !head.keeps);
    const length = head.chunked ? undefined : (head.contentLength ?? 0);
    const came = at === 0 ? chunk : chunk.subarray(at);
    // A body that the client asks about is read as one that is still to come: its reader has it asked for.
    const whole = length === 0 || (length !== undefined && came.length >= length && !head.expect);
    const body = whole ? (length === 0 ? undefined : came.subarray(0, length)) : this.#stream(head, text, length);
    const exchange = (this.#exchange = new Http1Exchange(this, text, head, body));
    if (isWebSocketHandshake(text, head)) exchange.upgrade = new Http1Upgrade(exchange, this);
    // A client that is not asked for its body may send it or not.
    exchange.shouldKeepAlive = !this.#last && (whole || !head.expect);
    if (whole && came.length > length) this.#hold(came.subarray(length));
    this.#owner.serve(exchange);
    if (!whole && came.length > 0 && this.#body !== undefined) this.#readBody(this.#body, came);
  }

  #understand(text: RequestText): RequestHead {
    if (this.#known?.text === text) return this.#known.head;
    const head = this.#owner.understand(text, this.remoteAddress);
    // Whether a key is good is asked each time.
    this.#known = head.invokeKey === undefined ? { text, head } : undefined;
    return head;
  }

  #stream(head: RequestHead, { version }: RequestText, length: number | undefined): Http1Body {
    // Clients of HTTP/1.0 know no interim answers (RFC 9110 §10.1.1).
    const asks = head.expect && version === "1.1";
    return (this.#body ??= new Http1Body(length, this.socket, asks ? () => this.#continue() : undefined));
  }

  #continue(): void {
    const exchange = this.#exchange;
    if (exchange === undefined || exchange.headersSent) return;
    exchange.shouldKeepAlive = !this.#last;
    exchange.writeContinue();
  }

  #readBody(body: Http1Body, chunk: Buffer): void {
    const rest = body.receive(chunk);
    if (body.fault !== undefined) return this.#breakOff(body, body.fault);
    if (!body.complete) {
      if (this.#exchange === undefined && body.bytes > this.#dropsUntil) this.#linger();
      return;
    }
    this.#body = undefined;
    if (this.#exchange === undefined) this.#await("request");
    if (rest !== undefined) this.#hold(rest);
    this.#goOn();
  }

  /** A body breaks the rules, or its client left: its request is refused, unless it was answered already. */
  #breakOff(body: Http1Body, fault: string): void {
    const exchange = this.#exchange;
    this.#last = true;
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

  #hold(chunk: Buffer): void {
    if (this.#last && this.#exchange?.upgrade === undefined) return;
    if (this.#early.hold(chunk)) this.socket.pause();
  }

  /** The reply is out. */
  #finish(): void {
    const exchange = this.#exchange;
    if (exchange === undefined) return;
    this.#exchange = undefined;
    this.#await("request");
    if (this.#last || !exchange.shouldKeepAlive) this.#linger();
    else if (this.#body !== undefined) this.#drop(this.#body);
    exchange.close();
    this.#goOn();
  }

  /** Reads away what is left of a body that nobody wants, if it is not too much. */
  #drop(body: Http1Body): void {
    if (body.left > mostDropped) return this.#linger();
    this.#dropsUntil = body.bytes + mostDropped;
    this.#await("rest");
    body.destroy();
    this.socket.resume();
  }

  /** Reads what came too early, if it is its turn. */
  #goOn(): void {
    if (this.#early.empty || this.#exchange !== undefined || this.#body !== undefined || this.#last) return;
    if (this.socket.destroyed || this.socket.writableEnded) return;
    const [first, ...rest] = this.#early.take();
    this.socket.resume();
    if (first !== undefined) this.#read(rest.length === 0 ? first : Buffer.concat([first, ...rest]));
  }

  /** The client ended its side: it left, and is answered no more. A request that it cut short is refused. */
  #end(): void {
    if (this.#awaited === "close") this.socket.destroySoon();
    else if (this.#body !== undefined && this.#exchange !== undefined) this.#breakOff(this.#body, "no end");
    else if (this.#heads.begun && !this.#last) this.#refuse(400, "its head has no end");
    else if (this.#exchange?.upgrade !== undefined || this.#exchange?.endsByClose === true) this.cut();
    else this.socket.end();
  }

  #refuse(status: number, why: string): void {
    const text = this.#heads.head;
    writeRaw(this.socket, status, `Cannot read request: ${why}`, text.method === "HEAD");
    this.#owner.onMalformed(text, status, why);
    this.#linger();
  }

  /** Nothing more is said; the client may still read what was. */
  #linger(): void {
    this.#last = true;
    this.#early.take();
    this.#body?.destroy();
    this.#body = undefined;
    this.#await("close");
    if (this.socket.readableEnded) this.socket.destroySoon();
    else this.socket.end();
    this.socket.resume();
  }

  #await(what: Awaited): void {
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
