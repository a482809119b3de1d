import type { CallLimit, FunctionLimits } from "../../../core/functions/function-limits.ts";
import type { TableEntry } from "../../../core/replicas/function-table.ts";
import type { Upstream } from "../../../core/ports/upstream.ts";
import type { Waker } from "../../../core/replicas/wake.ts";
import type { CallFacts } from "../call-facts.ts";
import type { CallObserver } from "../call-observer.ts";
import type { DeadlineSweep } from "./deadline-sweep.ts";
import type { FlushLater } from "./flush-later.ts";
import type { FunctionCounts } from "../../../process/metrics/invocation-counts.ts";
import type { ReplyHeadCache } from "./reply-head-cache.ts";
import type { WriteError } from "../write-error.ts";

/** What all synchronous calls of a gateway share. */
export interface SyncCallParts {
  readonly upstream: Upstream;
  readonly waker: Pick<Waker, "wait">;
  readonly sweep: DeadlineSweep;
  readonly flushLater: FlushLater;
  readonly replies: ReplyHeadCache;
  readonly writeError: WriteError;
  /** Whether the gateway is stopping, so that replies close their connections. */
  readonly draining: () => boolean;
  readonly observer: CallObserver;
  /** Milliseconds without a byte in either direction after which a reply that has begun is cut. */
  readonly streamIdle: number;
  /** Milliseconds without a byte after which a WebSocket is closed. */
  readonly webSocketIdle: number;
}

/** One call: its function and its request. */
export interface SyncCallFacts extends CallFacts {
  readonly entry: TableEntry;
  readonly limits: FunctionLimits;
  /** Limits the time to the head of the reply. */
  readonly limit: CallLimit;
  readonly counts: FunctionCounts;
  /** Unix nanoseconds. */
  readonly startTime: string;
  /** Path and query for the function. */
  readonly target: string;
  /** Flat; sent after the headers that the head forwards, without `Host`. */
  readonly headers: string[];
  readonly hasBody: boolean;
  /** When its stream or WebSocket ends at the latest, in milliseconds of `performance.now()`; infinite = never. */
  readonly lastMoment: number;
}

/** Error codes of a call whose function was found. */
export type FailureCode = "bad_function_reply" | "function_unreachable" | "function_timeout" | "too_many_calls";
