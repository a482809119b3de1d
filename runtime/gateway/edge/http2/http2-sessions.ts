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

/** How HTTP/2 connections and requests are handled; durations in milliseconds. */
export interface Http2Parts {
  /** @throws PlatformError when a head breaks a rule */
  readonly understand: (head: Http2Head, remoteAddress: string) => RequestHead;
  readonly serve: (exchange: Http2Exchange) => void;
  readonly refuse: (exchange: Http2Exchange, err: unknown) => void;
  /** Longest time that a client may not read the bytes sent to it. */
  readonly idle: number;
  /** Longest time that a connection may be idle. */
  readonly keepAlive: number;
  readonly draining: () => boolean;
  /** Value of `Strict-Transport-Security` in each reply; absent: none. */
  readonly hsts?: string | undefined;
}

/** Limits of one connection, which is closed if its client resets more streams than that, in a burst or per second. */
const options = {
  settings: { maxConcurrentStreams: 100, maxHeaderListSize: 65_536, enablePush: false },
  // More than the contract allows, so that most oversized heads get an error response instead of a reset.
  maxHeaderListPairs: 1_000,
  streamResetBurst: 200,
  streamResetRate: 33,
  // A function's reply may repeat any header, as it may over HTTP/1.1.
  strictSingleValueFields: false,
} as const;

const highestStream = 2 ** 31 - 1;

/** The HTTP/2 connections of a server. */
export class Http2Sessions {
  readonly #parts: Http2Parts;
  readonly #open = new Set<ServerHttp2Session>();
  /** Never listens: connections are passed to it. */
  readonly #server = createServer(options);
  /** Milliseconds that are left for the first request of the connection that begins. */
  #timeLeft = 0;

  constructor(parts: Http2Parts) {
    this.#parts = parts;
    this.#server.on("session", (session) => this.#watch(session));
    this.#server.on("sessionError", (_err, session) => session.destroy());
  }

  /** Serves a connection whose client chose HTTP/2 by ALPN; its first request must begin within `timeLeft`. */
  take(socket: TLSSocket, timeLeft: number): void {
    // The session begins before `emit` returns.
    this.#timeLeft = timeLeft;
    this.#server.emit("connection", socket);
  }

  /** Tells clients to open other connections; requests that they send meanwhile are still served. */
  drain(): void {
    for (const session of this.#open) sendGoaway(session);
  }

  /** Accepts no new requests; each connection closes with its last reply. */
  close(): void {
    for (const session of this.#open) session.close();
  }

  #serve(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, rawHeaders: string[]): void {
    stream.on("error", () => {});
    const hasBody = (flags & constants.NGHTTP2_FLAG_END_STREAM) === 0;
    const sent = http2Head(headers, rawHeaders, hasBody);
    const { understand, serve, refuse, idle, hsts } = this.#parts;
    let head: RequestHead;
    try {
      head = understand(sent, stream.session?.socket.remoteAddress ?? "");
    } catch (err) {
      refuse(new Http2Exchange(stream, sent, refusedHead, hasBody, hsts), err);
      return;
    }
    const exchange = new Http2Exchange(stream, sent, head, hasBody, hsts);
    cutUnread(stream, idle, () => exchange.cutUnread());
    // What a client resets in the same packet was no request: it is neither served nor counted.
    setImmediate(() => {
      if (!stream.closed && !stream.destroyed && !stream.aborted) serve(exchange);
    });
  }

  #watch(session: ServerHttp2Session): void {
    const { keepAlive } = this.#parts;
    let streams = 0;
    const destroyAfter = (time: number): NodeJS.Timeout => setTimeout(() => session.destroy(), time).unref();
    let idle = destroyAfter(this.#timeLeft);
    this.#open.add(session);
    session.on("stream", (stream, headers, flags, rawHeaders) => {
      streams += 1;
      clearTimeout(idle);
      stream.once("close", () => {
        streams -= 1;
        if (streams === 0 && !session.destroyed) idle = destroyAfter(keepAlive);
      });
      this.#serve(stream, headers, flags, rawHeaders);
      if (this.#parts.draining()) sendGoaway(session);
    });
    session.once("close", () => {
      clearTimeout(idle);
      this.#open.delete(session);
    });
  }
}

function sendGoaway(session: ServerHttp2Session): void {
  if (!session.closed && !session.destroyed) session.goaway(constants.NGHTTP2_NO_ERROR, highestStream);
}
