import type { TableEntry } from "../../core/replicas/function-table.ts";
import type { Exchange } from "./exchange.ts";

/**
 * Why a call was cut together with its client's connection. `idle`: no byte for `stream_idle_timeout` or
 * `websocket_idle_timeout`; `unread`: the client did not read the bytes sent to it; `timeout`: a queued run reached its
 * limit in the middle of its reply; `replica`: the replica broke off its reply; `draining`: the gateway stops and its
 * drain timeout is over; `expired`: the caller's token expired five minutes ago.
 */
export type CutReason = "idle" | "unread" | "timeout" | "replica" | "draining" | "expired";

/** Facts of a call that are known from its beginning. */
export interface CallFacts {
  readonly exchange: Exchange;
  readonly callId: string;
  /** The function that is called; as the URL names it if there is no such function, undefined if the URL names none. */
  readonly ref: { readonly name: string; readonly namespace: string | undefined } | undefined;
  /** That function, if there is such a one; absent for asynchronous calls. */
  readonly entry?: TableEntry | undefined;
  /** As sent to the function. */
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
  /** Whether the gateway replied itself, with an error. */
  readonly isOwnError?: boolean | undefined;
  /** The replica that it was sent to last, by its name. */
  readonly replica?: string | undefined;
  /** Milliseconds that it waited for a replica to start; undefined = it did not wait. */
  readonly coldStart?: number | undefined;
}
