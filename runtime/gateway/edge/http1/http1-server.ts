import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";

import { isLoopbackListener } from "../../../settings/answered-hosts.ts";
import type { RequestText } from "../../../http1/request-text.ts";
import type { RequestHead } from "../../calls/request-head.ts";
import type { ClientLimit } from "../client-limit.ts";
import { cutUnread } from "../cut-unread.ts";
import { Http1Connection, type Awaited, type Http1Owner } from "./http1-connection.ts";
import type { Http1Exchange } from "./http1-exchange.ts";
import { TlsHandshakes } from "./tls-handshakes.ts";

/** How a server handles connections and requests; times in milliseconds. */
export interface Http1ServerParts {
  /** @throws PlatformError when a head breaks a rule */
  readonly understand: (text: RequestText, remoteAddress: string, secure: boolean, local: boolean) => RequestHead;
  readonly serve: (exchange: Http1Exchange) => void;
  readonly refuse: (exchange: Http1Exchange, err: unknown) => void;
  /** A request broke the rules of HTTP/1.1: `status` was the reply, and the connection ends. */
  readonly onMalformed: (text: RequestText, status: number, why: string) => void;
  /** Longest time for a head; for the first one of a connection since it was accepted, its TLS handshake included. */
  readonly headersTimeout: number;
  /** Longest time that a connection may be idle between two requests. */
  readonly keepAlive: number;
  /** Longest time that a client may not read the bytes sent to it. */
  readonly idle: number;
  /** Most connections of all clients. */
  readonly mostConnections: number;
  readonly clients: ClientLimit;
  /** Called for each connection that was closed on arrival: over the limit of its client, or of all clients. */
  readonly onTooMany: (reason: "client" | "all") => void;
  /** PEM texts; the server speaks TLS with them. */
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer } | undefined;
  /** Value of `Strict-Transport-Security` in each reply; absent: none. */
  readonly hsts?: string | undefined;
  /** Takes connections whose client chose HTTP/2 by ALPN, and the time that is left for the first head. */
  readonly onHttp2?: (socket: TLSSocket, timeLeft: number) => void;
}

/** Milliseconds that a connection is kept beyond its announced timeout, for a request that is on its way. */
const keepAliveMargin = 1_000;
/** Longest time, in milliseconds, for the rest of an unwanted body, and for a client to read its last response. */
const linger = { rest: 2_000, close: 1_000 } as const;
/** Milliseconds after which an idle connection drops what it caches. */
const dropCachesAfter = 2_000;

/** A server of HTTP/1.1 at one address, and its connections. */
export class Http1Server implements Http1Owner {
  readonly goesOn: string;
  readonly hsts: string;
  /** Listens and closes like any server of node:net. */
  readonly listener: Server;
  readonly #parts: Http1ServerParts;
  readonly #secure: boolean;
  #local = false;
  readonly #timeouts: Readonly<Record<Awaited, number>>;
  readonly #connections = new Set<Http1Connection>();
  /** Sockets that speak another protocol by now. */
  readonly #handedOver = new Set<Socket>();
  readonly #http2 = new Set<Socket>();
  readonly #handshakes: TlsHandshakes | undefined;
  #sweep: NodeJS.Timeout | undefined;

  constructor(parts: Http1ServerParts) {
    const { tls, headersTimeout, keepAlive } = parts;
    this.#parts = parts;
    this.#secure = tls !== undefined;
    this.hsts = parts.hsts === undefined ? "" : `Strict-Transport-Security: ${parts.hsts}\r\n`;
    this.goesOn = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAlive / 1_000)}\r\n`;
    this.#timeouts = {
      "first-byte": headersTimeout,
      head: headersTimeout,
      request: keepAlive + keepAliveMargin,
      ...linger,
      nothing: Number.POSITIVE_INFINITY,
    };
    if (tls === undefined) {
      this.listener = createServer({ noDelay: true, allowHalfOpen: true }, (socket) => this.#accept(socket));
    } else {
      // Who ends the connection during the handshake has nothing to wait for. The time limit of Node.js begins again with
      // each byte, so the sweep is the one that counts.
      const secure = { noDelay: true, allowHalfOpen: false, ...tls, ALPNProtocols: ["h2", "http/1.1"] };
      const listener = createTlsServer(secure, (socket) => this.#acceptTls(socket));
      this.#handshakes = new TlsHandshakes(listener);
      this.listener = listener;
    }
    this.listener.maxConnections = parts.mostConnections;
    this.listener.on("listening", () => {
      const address = this.listener.address();
      this.#local = typeof address === "object" && address !== null && isLoopbackListener(address.address);
    });
    this.listener.on("drop", () => parts.onTooMany("all"));
    this.listener.on("connection", (socket: Socket) => this.#count(socket));
  }

  /** Whether it listens on loopback. */
  get local(): boolean {
    return this.#local;
  }

  understand(text: RequestText, remoteAddress: string): RequestHead {
    return this.#parts.understand(text, remoteAddress, this.#secure, this.#local);
  }

  serve(exchange: Http1Exchange): void {
    this.#parts.serve(exchange);
  }

  refuse(exchange: Http1Exchange, err: unknown): void {
    this.#parts.refuse(exchange, err);
  }

  onMalformed(text: RequestText, status: number, why: string): void {
    this.#parts.onMalformed(text, status, why);
  }

  onHandedOver(connection: Http1Connection): void {
    this.#connections.delete(connection);
    this.#track(this.#handedOver, connection.socket);
  }

  onClosed(connection: Http1Connection): void {
    this.#connections.delete(connection);
  }

  /** Closes the connections without a request in flight; with `hadOne` only those that had a request before. */
  closeIdle(hadOne: boolean): void {
    if (!hadOne) this.#handshakes?.closeBefore(Number.POSITIVE_INFINITY);
    for (const { awaited, socket } of this.#connections) {
      if (awaited === "first-byte" && hadOne) continue;
      if (awaited !== "nothing" && awaited !== "close") socket.destroy();
    }
  }

  closeAll(): void {
    this.#handshakes?.closeBefore(Number.POSITIVE_INFINITY);
    for (const connection of this.#connections) connection.cut();
    for (const socket of this.#http2) socket.destroy();
    for (const socket of this.#handedOver) socket.destroy();
  }

  /** Counts a connection before any work is done for it; one over the client's limit is closed. */
  #count(socket: Socket): void {
    const release = this.#parts.clients.take(socket.remoteAddress ?? "");
    if (release === undefined) {
      this.#parts.onTooMany("client");
      socket.destroy();
    } else socket.once("close", release);
    if (this.#handshakes !== undefined) this.#startSweep();
  }

  #acceptTls(socket: TLSSocket): void {
    const since = this.#handshakes?.end(socket);
    if (since === undefined || socket.alpnProtocol !== "h2") {
      socket.allowHalfOpen = true;
      return this.#accept(socket, since);
    }
    // node:http2 leaves the end of a connection to its socket: a client that ended its side must not keep its streams.
    this.#track(this.#http2, socket);
    this.#parts.onHttp2?.(socket, Math.max(0, since + this.#parts.headersTimeout - performance.now()));
  }

  #accept(socket: Socket, since = performance.now()): void {
    if (socket.destroyed) return;
    const connection = new Http1Connection(socket, this, since);
    this.#connections.add(connection);
    cutUnread(socket, this.#parts.idle, () => connection.cutUnread());
    this.#startSweep();
  }

  #startSweep(): void {
    const period = Math.min(1_000, this.#parts.headersTimeout / 2);
    this.#sweep ??= setInterval(() => this.#checkTimeouts(), period).unref();
  }

  #track(sockets: Set<Socket>, socket: Socket): void {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  }

  #checkTimeouts(): void {
    if (this.#connections.size === 0 && (this.#handshakes?.size ?? 0) === 0) {
      clearInterval(this.#sweep);
      this.#sweep = undefined;
      return;
    }
    const now = performance.now();
    this.#handshakes?.closeBefore(now - this.#parts.headersTimeout);
    for (const connection of this.#connections) {
      const { awaited, since, socket } = connection;
      if (awaited === "request" && now - since >= dropCachesAfter) connection.rest();
      if (now - since < this.#timeouts[awaited]) continue;
      if (awaited === "head") connection.expire();
      else socket.destroy();
    }
  }
}
