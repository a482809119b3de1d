import type { Duplex, Readable } from "node:stream";

import type { CachedHeaders } from "../../core/headers/cached-headers.ts";
import type { RequestHead } from "./request-head.ts";

/** The body of a request that did not arrive whole with its head. A reader may destroy it: the rest is discarded. */
export interface BodyStream extends Readable {
  /** Bytes received so far, without framing. */
  readonly bytes: number;
  /** Whether any of it was consumed, so that it cannot be sent a second time. */
  readonly consumed: boolean;
}

/** The body of a request: its bytes if all arrived with the head, else a stream; undefined when it has none. */
export type ExchangeBody = Buffer | BodyStream | undefined;

/** Headers of a reply: by name, or flat. */
export type ReplyHeaders = readonly string[] | Readonly<Record<string, string>>;

/** A client's request to switch to a WebSocket. */
export interface ClientUpgrade {
  /** Bytes from and to the client after the 101. */
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Whether it was closed because no byte passed for too long. */
  readonly idled: boolean;
  /**
   * Replies 101 with these headers (flat) and joins the client's connection with `peer`, until one of them closes or no
   * byte passes for `idle` milliseconds.
   * @throws UnsendableHeader when a header cannot be sent; then nothing was sent
   */
  join(headers: readonly string[], peer: Duplex, idle: number): void;
}

/**
 * One request of a client and the reply to it, over any HTTP version. Its receiver refuses or handles the request; the
 * connection belongs to the edge.
 */
export interface Exchange {
  readonly method: string;
  /** The target as sent: path and query. */
  readonly url: string;
  /** Flat; names as sent. */
  readonly rawHeaders: readonly string[];
  /** Address of the peer of the connection. */
  readonly remoteAddress: string;
  readonly head: RequestHead;
  readonly body: ExchangeBody;
  /** Whether the whole request was received. */
  readonly complete: boolean;
  /** Bytes of its body received so far. */
  readonly received: number;
  /** Whether a reader is waiting for more of its body. */
  readonly awaited: boolean;
  /** Returns the trailers of the request (flat) once its body has ended; undefined where the client can send none. */
  readonly requestTrailers: (() => readonly string[]) | undefined;
  /** Whether the client asked for trailers of the reply, and can receive them. */
  readonly wantsTrailers: boolean;
  /** Set if the client asks to switch to a WebSocket. */
  readonly upgrade: ClientUpgrade | undefined;

  /** Status of the reply, once its head was made. */
  readonly statusCode: number;
  /** Whether the connection may carry another request; the reply's head says so if this is set before it is made. */
  shouldKeepAlive: boolean;
  /** Whether the head of a reply was made. */
  readonly headersSent: boolean;
  /** Whether `end` was called. */
  readonly writableEnded: boolean;
  /** Whether it is closed. */
  readonly destroyed: boolean;
  /** Whether it was cut because its client did not read the bytes sent to it. */
  readonly unread: boolean;
  /**
   * Whether the client waits for an interim response 100 before it sends its body. From then on `sendInterim` gives it;
   * otherwise the first read of the body does.
   */
  passExpectation(): boolean;
  /**
   * Sends an interim response with these headers (flat), unless a head was made; a client that cannot receive it, or a
   * 100 that it does not wait for, gets nothing.
   */
  sendInterim(status: number, headers: readonly string[]): void;
  /**
   * Makes the head of the reply, which is sent with the next write. `cached` comes before `headers`.
   * @throws UnsendableHeader when a header cannot be sent; then nothing was sent
   */
  writeHead(status: number, headers?: ReplyHeaders, cached?: CachedHeaders): Exchange;
  /** False asks to wait for `drain`. The exchange owns the bytes until `done` is called, without `done` for good. */
  write(chunk: Uint8Array, done?: () => void): boolean;
  write(chunk: string, encoding: "latin1"): boolean;
  /** Text is sent as UTF-8, or with `latin1` as one byte per character. */
  end(chunk?: string | Uint8Array, encoding?: "latin1"): Exchange;
  /**
   * Sets the function's trailers (flat), before `end`: the client gets those that may pass, if it can receive trailers.
   */
  sendTrailers(trailers: readonly string[]): void;
  /** Withdraws a head of which nothing was sent, so that another one can be made; false if some of it was sent. */
  takeBack(): boolean;
  /** Whether its client is gone, or can be sent nothing more, though `close` was not emitted yet. */
  isLost(): boolean;
  /** Cuts the exchange unless it is over. */
  destroy(): unknown;
  /** `close`: the kernel has the whole reply, or it cannot be sent any more. */
  on(event: "close" | "drain", listener: () => void): unknown;
  once(event: "close" | "drain", listener: () => void): unknown;
  off(event: "close" | "drain", listener: () => void): unknown;
}
