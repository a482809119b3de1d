import type { Duplex, Readable } from "node:stream";

import type { FunctionProtocol } from "../functions/function-limits.ts";
import type { CachedHeaders } from "../headers/cached-headers.ts";

/** Keeps borrowed bytes valid until the returned function is called. */
export type KeepBytes = () => () => void;

export interface UpstreamRequest {
  readonly method: string;
  /** Path and query, byte for byte. */
  readonly target: string;
  /** Headers that come first, and may be the same in the next request; without `Content-Length`. */
  readonly forward?: CachedHeaders | undefined;
  /** The value of `Host`; the replica's if absent. */
  readonly host?: string | undefined;
  /** Flat: name, value, …; together with `forward` complete except for `Host`. */
  readonly headers: string[];
  /** Null when the request has none. */
  readonly body: Readable | Uint8Array | null;
  /** The protocol that the client asks to switch to, in lower case; the replica may respond without switching. */
  readonly upgrade?: string | undefined;
  /** The client sends its body after an interim response 100, which is the replica's to give. Over HTTP/1.1 only. */
  readonly expectsContinue?: boolean | undefined;
  /** Whether the listener passes trailers of the response on. */
  readonly wantsTrailers?: boolean | undefined;
  /** What the replica speaks; HTTP/1.1 if absent. */
  readonly protocol?: FunctionProtocol | undefined;
  /** Called once the body has ended: trailers for a replica that speaks HTTP/2, flat. */
  readonly trailers?: (() => readonly string[]) | undefined;
}

/** Receives one response. Exactly one of `onEnd`, `onError` and `onUpgrade` is called, last. */
export interface UpstreamListener {
  /** An interim response, before the head: status 100 or 102 to 199, headers as sent. Over HTTP/1.1 only. */
  onInterim?(status: number, headers: readonly string[]): void;
  /** The head of the final response; status 200 to 599, header names and values flat, as sent. */
  onHead(status: number, headers: readonly string[]): void;
  /**
   * False pauses the response until `resume`. The chunk is borrowed: its bytes are valid until this returns, or until
   * they are released if `keep` was called before.
   */
  onData(chunk: Uint8Array, keep?: KeepBytes): boolean;
  /** Before `onEnd`, if the request wants trailers and there are any: flat, as sent. */
  onTrailers?(trailers: readonly string[]): void;
  onEnd(): void;
  /**
   * `refused`: no connection, nothing was sent; `reset`: the connection broke; `malformed`: the response breaks a rule,
   * which a `MalformedReply` names. After `abort` nothing is called any more.
   */
  onError(kind: "refused" | "reset" | "malformed", err: Error): void;
  /** The replica switched to the requested protocol: the listener owns the connection from now on. */
  onUpgrade?(headers: readonly string[], connection: Duplex): void;
}

/** One exchange in flight. */
export interface UpstreamCall {
  resume(): void;
  /** Closes the connection to the replica, or over HTTP/2 the stream; the listener is not called any more. */
  abort(): void;
}

/**
 * Sends requests to replicas over persistent connections, streaming both ways with back-pressure; responses are
 * untrusted (head ≤ 64 KiB, ≤ 10 interim responses, one length). A response that is whole counts, whatever bytes follow
 * it: those end its connection.
 */
export interface Upstream {
  dispatch(address: string, request: UpstreamRequest, listener: UpstreamListener): UpstreamCall;
  /** The replica is gone: closes persistent connections to it once they are idle. */
  release(address: string): void;
  close(): Promise<void>;
}
