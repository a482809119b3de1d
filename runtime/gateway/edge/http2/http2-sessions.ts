import {
  constants,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { TLSSocket } from "node:tls";

import type { RequestHead } from "../../calls/request-head.ts";
import { cutUnread } from "../cut-unread.ts";
import { refusedHead } from "../refused-head.ts";
import { Http2Exchange } from "./http2-exchange.ts";
import { http2Head, type Http2Head } from "./http2-head.ts";

/** What the HTTP/2 side of the gateway works with; durations in milliseconds. */
export interface Http2Parts {
  /** @throws PlatformError when a head breaks a rule */
  readonly understand: (head: Http2Head, remoteAddress: string) => RequestHead;
  readonly serve: (exchange: Http2Exchange) => void;
  readonly refuse: (exchange: Http2Exchange, err: unknown) => void;
  /** Longest a client may read nothing of what waits for it. */
  readonly idle: number;
  /** Longest a connection may take to its first request. */
  readonly headersTimeout: number;
  /** Longest a connection may rest without a request. */
  readonly keepAlive: number;
  readonly draining: () => boolean;
}

/** Bounds of one connection. A client that resets more streams than this, in a burst or per second, loses it. */
const options = {
  settings: { maxConcurrentStreams: 100, maxHeaderListSize: 65_536, enablePush: false },
  // More than the contract allows, so that most of what is too much is told so instead of being reset.
  maxHeaderListPairs: 1_000,
  streamResetBurst: 200,
  streamResetRate: 33,
  // A function's reply may repeat what it likes, over HTTP/1.1, too.
  strictSingleValueFields: false,
} as const;

const highestStream = 2 ** 31 - 1;

/** The HTTP/2 connections of a server. */
export class Http2Sessions {
  readonly #parts: Http2Parts;
  readonly #open = new Set<ServerHttp2Session>();
  /** Never listens itself. */
  readonly #server = createServer(options);

  constructor(parts: Http2Parts) {
    this.#parts = parts;
    this.#server.on("session", (session) => this.#watch(session));
    this.#server.on("sessionError", (_err, session) => session.destroy());
  }

  /** Takes a connection whose client chose HTTP/2 by ALPN. */
  take(socket: TLSSocket): void {
    this.#server.emit("connection", socket);
  }

  /** Tells clients to go on elsewhere; what they send meanwhile is still served. */
  drain(): void {
    for (const session of this.#open) announce(session);
  }

  /** No connection takes a new request; each closes with its last reply. */
  close(): void {
    for (const session of this.#open) session.close();
  }

  #serve(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, rawHeaders: string[]): void {
    stream.on("error", () => {});
    const hasBody = (flags & constants.NGHTTP2_FLAG_END_STREAM) === 0;
    const sent = http2Head(headers, rawHeaders, hasBody);
    const { understand, serve, refuse, idle } = this.#parts;
    let head: RequestHead;
    try {
      head = understand(sent, stream.session?.socket.remoteAddress ?? "");
    } catch (err) {
      refuse(new Http2Exchange(stream, sent, refusedHead, hasBody), err);
      return;
    }
    const exchange = new Http2Exchange(stream, sent, head, hasBody);
    cutUnread(stream, idle, () => exchange.cutUnread());
    serve(exchange);
  }

  #watch(session: ServerHttp2Session): void {
    const { headersTimeout, keepAlive } = this.#parts;
    let streams = 0;
    const rest = (time: number): NodeJS.Timeout => setTimeout(() => session.destroy(), time).unref();
    let idle = rest(headersTimeout);
    this.#open.add(session);
    session.on("stream", (stream, headers, flags, rawHeaders) => {
      streams += 1;
      clearTimeout(idle);
      stream.once("close", () => {
        streams -= 1;
        if (streams === 0 && !session.destroyed) idle = rest(keepAlive);
      });
      this.#serve(stream, headers, flags, rawHeaders);
      if (this.#parts.draining()) announce(session);
    });
    session.once("close", () => {
      clearTimeout(idle);
      this.#open.delete(session);
    });
  }
}

function announce(session: ServerHttp2Session): void {
  if (!session.closed && !session.destroyed) session.goaway(constants.NGHTTP2_NO_ERROR, highestStream);
}
