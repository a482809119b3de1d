import type { Readable } from "node:stream";

export interface UpstreamRequest {
  readonly method: string;
  /** Path and query, byte for byte. */
  readonly target: string;
  /** Flat: name, value, …; complete but for `Host`, which is the replica's. */
  readonly headers: string[];
  /** Null when the request has none. */
  readonly body: Readable | Uint8Array | null;
}

/** Hears one answer. Exactly one of `onEnd` and `onError` is called, last. */
export interface UpstreamListener {
  /** The head of the final answer; status 200 to 599, header names and values flat, as sent. */
  onHead(status: number, headers: readonly string[]): void;
  /** False asks to pause until `resume`. */
  onData(chunk: Uint8Array): boolean;
  onEnd(): void;
  /**
   * `refused`: no connection, nothing was sent; `reset`: the connection broke; `malformed`: the answer broke the
   * framing rules. After `abort` nothing is called any more.
   */
  onError(kind: "refused" | "reset" | "malformed", err: Error): void;
}

/** One exchange under way. */
export interface UpstreamCall {
  resume(): void;
  /** Closes the connection to the replica; the listener hears nothing more. */
  abort(): void;
}

/**
 * Sends requests to replicas over kept connections, streaming both ways with back-pressure; an answer is untrusted
 * (head ≤ 64 KiB, ≤ 10 interim answers, one length). Trailers are dropped.
 */
export interface Upstream {
  dispatch(address: string, request: UpstreamRequest, listener: UpstreamListener): UpstreamCall;
  /** The replica is gone: closes kept connections to it once they are idle. */
  forget(address: string): void;
  close(): Promise<void>;
}
