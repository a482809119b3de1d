import type { Exchange } from "./exchange.ts";

/**
 * Why a call was cut, its client's connection with it: `idle`: no byte for `stream_idle_timeout`, or `websocket_idle_timeout`;
 * `unread`: the client read nothing of what waited for it; `timeout`: a queued run reached its limit in the middle of its
 * reply; `replica`: the replica broke its reply off; `draining`: the gateway stops and can wait no longer.
 */
export type CutReason = "idle" | "unread" | "timeout" | "replica" | "draining";

/** What is known of a call from its beginning. */
export interface CallFacts {
  readonly exchange: Exchange;
  readonly callId: string;
  /** The function that is called; what its address says if there is no such function, undefined if it says none. */
  readonly ref: { readonly name: string; readonly namespace: string | undefined } | undefined;
  /** The one that the function gets. */
  readonly traceParent: string;
  /** When its head was read, in milliseconds of `performance.now()`. */
  readonly startedAt: number;
}

/** How a call ended; bytes are those of bodies. */
export interface ObservedEnd {
  readonly status: number;
  /** Milliseconds since `startedAt`. */
  readonly duration: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Why the gateway closed its connection before the reply was whole. */
  readonly cut?: CutReason | undefined;
}
