import type { Duplex, Readable } from "node:stream";

import type { FunctionProtocol } from "../function-limits.ts";
import type { RepeatedHeaders } from "../repeated-headers.ts";

/** A body whose reader may say that it keeps no piece. */
export interface LentBody extends Readable {
  /** Set by a reader that is done with a piece when its `data` listener returns, or has paused the body by then. */
  borrowed?: boolean;
}

export interface UpstreamRequest {
  readonly method: string;
  /** Path and query, byte for byte. */
  readonly target: string;
  /** Headers that come first, and may be the same in the next request; none of them is a `Content-Length`. */
  readonly forward?: RepeatedHeaders | undefined;
  /** Flat: name, value, …; complete with `forward` but for `Host`, which is the replica's. */
  readonly headers: string[];
  /** Null when the request has none. */
  readonly body: LentBody | Uint8Array | null;
  /** The protocol that the client wants to go on with; the replica may answer without changing to it. */
  readonly upgrade?: "websocket" | undefined;
  /** What the replica speaks; HTTP/1.1 if absent. */
  readonly protocol?: FunctionProtocol | undefined;
  /** Asked once the body has ended: trailers for a replica that speaks HTTP/2, flat. */
  readonly trailers?: (() => readonly string[]) | undefined;
}

/** Hears one answer. Exactly one of `onEnd`, `onError` and `onUpgrade` is called, last. */
export interface UpstreamListener {
  /** The head of the final answer; status 200 to 599, header names and values flat, as sent. */
  onHead(status: number, headers: readonly string[]): void;
  /**
   * False asks to pause until `resume`. The chunk is lent: it may be used until this returns; one of more than `joinedBody`
   * bytes, if false is returned, until `resume`.
   */
  onData(chunk: Uint8Array): boolean;
  /** Before `onEnd`, from a replica that speaks HTTP/2: flat, as sent. */
  onTrailers?(trailers: readonly string[]): void;
  onEnd(): void;
  /**
   * `refused`: no connection, nothing was sent; `reset`: the connection broke; `malformed`: the answer broke the
   * framing rules. After `abort` nothing is called any more.
   */
  onError(kind: "refused" | "reset" | "malformed", err: Error): void;
  /** The replica changed to the protocol that was asked for: the connection is the listener's from now on. */
  onUpgrade?(headers: readonly string[], connection: Duplex): void;
}

/** One exchange under way. */
export interface UpstreamCall {
  resume(): void;
  /** Closes the connection to the replica, or over HTTP/2 the stream; the listener hears nothing more. */
  abort(): void;
}

/**
 * Sends requests to replicas over kept connections, streaming both ways with back-pressure; an answer is untrusted
 * (head ≤ 64 KiB, ≤ 10 interim answers, one length). Trailers pass over HTTP/2 alone.
 */
export interface Upstream {
  dispatch(address: string, request: UpstreamRequest, listener: UpstreamListener): UpstreamCall;
  /** The replica is gone: closes kept connections to it once they are idle. */
  forget(address: string): void;
  close(): Promise<void>;
}
