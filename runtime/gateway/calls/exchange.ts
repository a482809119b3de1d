import type { Duplex, Readable } from "node:stream";

import type { CachedHeaders } from "../../core/headers/cached-headers.ts";
import type { RequestHead } from "./request-head.ts";

/** The body of a request that did not come whole with its head. Whoever reads it may destroy it: the rest is read away. */
export interface BodyStream extends Readable {
  /** Bytes that came so far, without what frames them. */
  readonly bytes: number;
  /** Whether anything of it was taken: then it cannot be sent a second time. */
  readonly consumed: boolean;
}

/** The body of a request: its bytes if they came with its head, else a stream of them; undefined when it has none. */
export type ExchangeBody = Buffer | BodyStream | undefined;

/** Headers of a reply: by name, or flat. */
export type ReplyHeaders = readonly string[] | Readonly<Record<string, string>>;

/** A client's offer to go on as a WebSocket. */
export interface ClientUpgrade {
  /** Bytes from the client, and to it, after the 101. */
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Whether it was closed because no byte passed for too long. */
  readonly idled: boolean;
  /**
   * Answers 101 with these headers (flat) and joins the client's connection with `peer`, until one of them closes or no
   * byte passes for `idle` milliseconds.
   * @throws UnsendableHeader when a header cannot be sent; then nothing was sent
   */
  join(headers: readonly string[], peer: Duplex, idle: number): void;
}

/**
 * One request of a client and the reply to it, whatever they are carried by. The request is refused, or handled, by
 * whoever is given the exchange; its connection is the edge's.
 */
export interface Exchange {
  readonly method: string;
  /** The target as sent: path and query. */
  readonly url: string;
  /** Flat; names as sent. */
  readonly rawHeaders: readonly string[];
  /** Address of whoever the connection is with. */
  readonly remoteAddress: string;
  readonly head: RequestHead;
  readonly body: ExchangeBody;
  /** Whether all of the request came. */
  readonly complete: boolean;
  /** Bytes of its body that came so far. */
  readonly received: number;
  /** Whether more of its body is waited for at the moment. */
  readonly awaited: boolean;
  /** Gives the trailers of the request (flat) once its body has ended; undefined where the client can send none. */
  readonly requestTrailers: (() => readonly string[]) | undefined;
  /** Whether the client asked for trailers of the reply. */
  readonly wantsTrailers: boolean;
  /** Set if the client asks to go on as a WebSocket. */
  readonly upgrade: ClientUpgrade | undefined;

  /** That of the reply's head, once it was made. */
  readonly statusCode: number;
  /** Whether the connection may carry another request; what is set before the head is said in it. */
  shouldKeepAlive: boolean;
  /** Whether the head of a reply was made. */
  readonly headersSent: boolean;
  /** Whether `end` was called. */
  readonly writableEnded: boolean;
  /** Whether it is closed. */
  readonly destroyed: boolean;
  /** Whether it was cut because its client read nothing of what waited for it. */
  readonly unread: boolean;
  /**
   * Makes the head of the reply, which leaves with what is written next. `cached` stands before `headers`.
   * @throws UnsendableHeader when a header cannot be sent; then nothing was sent
   */
  writeHead(status: number, headers?: ReplyHeaders, cached?: CachedHeaders): Exchange;
  /** False asks to wait for `drain`. The bytes are the exchange's until `done` is called, or for good. */
  write(chunk: Uint8Array, done?: () => void): boolean;
  write(chunk: string, encoding: "latin1"): boolean;
  /** Text is UTF-8 unless it says that each character is a byte. */
  end(chunk?: string | Uint8Array, encoding?: "latin1"): Exchange;
  /** Trailers of the function (flat): the client gets those that may pass, if it can hear of them. Before `end`. */
  sendTrailers(trailers: readonly string[]): void;
  /** Takes back a head of which nothing was sent, so that another one can be made; false: it is out. */
  takeBack(): boolean;
  /** Whether its client is gone, or will hear no more, without a `close` yet. */
  isLost(): boolean;
  /** Cuts it, unless it is over. */
  destroy(): unknown;
  /** `close`: the reply is with the kernel, or cannot be sent any more. */
  on(event: "close" | "drain", listener: () => void): unknown;
  once(event: "close" | "drain", listener: () => void): unknown;
  off(event: "close" | "drain", listener: () => void): unknown;
}
