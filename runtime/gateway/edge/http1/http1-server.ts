import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";

import type { RequestText } from "../../../http1/request-text.ts";
import type { RequestHead } from "../../calls/request-head.ts";
import type { ClientLimit } from "../client-limit.ts";
import { cutUnread } from "../cut-unread.ts";
import { Http1Connection, type Awaited, type Http1Owner } from "./http1-connection.ts";
import type { Http1Exchange } from "./http1-exchange.ts";
import { answerPlainHttp } from "./plain-http.ts";
import { trackBelow } from "./socket-below.ts";

/** What a server does with what comes; times in milliseconds. */
export interface Http1ServerParts {
  /** @throws PlatformError when a head breaks a rule */
  readonly understand: (text: RequestText, remoteAddress: string, secure: boolean) => RequestHead;
  readonly serve: (exchange: Http1Exchange) => void;
  readonly refuse: (exchange: Http1Exchange, err: unknown) => void;
  /** What came breaks the rules of HTTP/1.1: it was answered with `status` and ends the connection. */
  readonly onMalformed: (text: RequestText, status: number, why: string) => void;
  /** Longest a head may take, and a new connection to its first byte. */
  readonly headersTimeout: number;
  /** Longest a connection may rest between two requests. */
  readonly keepAlive: number;
  /** Longest a client may read nothing of what waits for it. */
  readonly idle: number;
  /** Most connections of all clients. */
  readonly mostConnections: number;
  readonly clients: ClientLimit;
  /** Hears of a connection that was closed as it came: one too many of its client, or of all. */
  readonly onTooMany: (reason: "client" | "all") => void;
  /** PEM texts; the server speaks TLS with them. */
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer } | undefined;
  /** Takes connections whose client chose HTTP/2 by ALPN. */
  readonly onHttp2?: (socket: TLSSocket) => void;
}

/** Milliseconds that a connection is kept beyond what is said, for a request that is on its way. */
const keepAliveMargin = 1_000;
/** Milliseconds that the rest of a body may take that nobody wants, and a client to read its last answer. */
const linger = { rest: 2_000, close: 1_000 } as const;
/** Milliseconds after which an idle connection keeps as little memory as it can. */
const restsAfter = 2_000;

/** A server of HTTP/1.1 at one address, and its connections. */
export class Http1Server implements Http1Owner {
  readonly goesOn: string;
  /** Listens and closes as any server of node:net. */
  readonly listener: Server;
  readonly #parts: Http1ServerParts;
  readonly #secure: boolean;
  readonly #longest: Readonly<Record<Awaited, number>>;
  readonly #connections = new Set<Http1Connection>();
  /** Those that speak another protocol by now. */
  readonly #handedOver = new Set<Socket>();
  readonly #http2 = new Set<Socket>();
  #sweep: NodeJS.Timeout | undefined;

  constructor(parts: Http1ServerParts) {
    const { tls, headersTimeout, keepAlive } = parts;
    this.#parts = parts;
    this.#secure = tls !== undefined;
    this.goesOn = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAlive / 1_000)}\r\n`;
    this.#longest = {
      "first-byte": headersTimeout,
      head: headersTimeout,
      request: keepAlive + keepAliveMargin,
      ...linger,
      nothing: Number.POSITIVE_INFINITY,
    };
    const options = { noDelay: true, allowHalfOpen: true };
    if (tls === undefined) {
      this.listener = createServer(options, (socket) => this.#take(socket));
    } else {
      const secure = { ...options, ...tls, ALPNProtocols: ["h2", "http/1.1"], handshakeTimeout: headersTimeout };
      const listener = createTlsServer(secure, (socket) => this.#choose(socket));
      answerPlainHttp(listener, trackBelow(listener));
      this.listener = listener;
    }
    this.listener.maxConnections = parts.mostConnections;
    this.listener.on("drop", () => parts.onTooMany("all"));
    this.listener.on("connection", (socket: Socket) => this.#count(socket));
  }

  understand(text: RequestText, remoteAddress: string): RequestHead {
    return this.#parts.understand(text, remoteAddress, this.#secure);
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
    this.#keep(this.#handedOver, connection.socket);
  }

  onClosed(connection: Http1Connection): void {
    this.#connections.delete(connection);
  }

  /** Closes the connections on which no request is under way, or those only that had one, with `hadOne`. */
  closeIdle(hadOne: boolean): void {
    for (const { awaited, socket } of this.#connections) {
      if (awaited === "first-byte" && hadOne) continue;
      if (awaited !== "nothing" && awaited !== "close") socket.destroy();
    }
  }

  closeAll(): void {
    for (const connection of this.#connections) connection.cut();
    for (const socket of this.#http2) socket.destroy();
    for (const socket of this.#handedOver) socket.destroy();
  }

  /** Before anything is done for the connection: the newest of too many goes. */
  #count(socket: Socket): void {
    const release = this.#parts.clients.take(socket.remoteAddress ?? "");
    if (release === undefined) {
      this.#parts.onTooMany("client");
      socket.destroy();
    } else socket.once("close", release);
  }

  #choose(socket: TLSSocket): void {
    if (socket.alpnProtocol !== "h2") return this.#take(socket);
    // node:http2 leaves the end of a connection to its socket: a client that said goodbye must not keep its streams.
    socket.allowHalfOpen = false;
    this.#keep(this.#http2, socket);
    this.#parts.onHttp2?.(socket);
  }

  #take(socket: Socket): void {
    if (socket.destroyed) return;
    const connection = new Http1Connection(socket, this);
    this.#connections.add(connection);
    cutUnread(socket, this.#parts.idle, () => connection.cutUnread());
    const period = Math.min(1_000, this.#parts.headersTimeout);
    this.#sweep ??= setInterval(() => this.#look(), period).unref();
  }

  #keep(sockets: Set<Socket>, socket: Socket): void {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  }

  #look(): void {
    if (this.#connections.size === 0) {
      clearInterval(this.#sweep);
      this.#sweep = undefined;
      return;
    }
    const now = performance.now();
    for (const connection of this.#connections) {
      const { awaited, since, socket } = connection;
      if (awaited === "request" && now - since >= restsAfter) connection.rest();
      if (now - since < this.#longest[awaited]) continue;
      if (awaited === "head") connection.expire();
      else socket.destroy();
    }
  }
}
