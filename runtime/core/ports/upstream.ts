import type { Duplex, Readable } from "node:stream";

import type { FunctionProtocol } from "../functions/function-limits.ts";
import type { CachedHeaders } from "../headers/cached-headers.ts";

/** Keeps borrowed bytes as they are until the function that it returns is called. */
export type KeepBytes = () => () => void;

export interface UpstreamRequest {
  readonly method: string;
  /** Path and query, byte for byte. */
  readonly target: string;
  /** Headers that come first, and may be the same in the next request; none of them is a `Content-Length`. */
  readonly forward?: CachedHeaders | undefined;
  /** Flat: name, value, …; complete with `forward` but for `Host`, which is the replica's. */
  readonly headers: string[];
  /** Null when the request has none. */
  readonly body: Readable | Uint8Array | null;
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
   * False asks to pause until `resume`. The chunk is borrowed: its bytes are others' once this returns, unless they were
   * copied, or `keep` was called before and not released yet.
   */
  onData(chunk: Uint8Array, keep?: KeepBytes): boolean;
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
