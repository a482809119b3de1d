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
  /** Milliseconds without a byte, either way, after which a reply that began is cut. */
  readonly streamIdle: number;
  /** Milliseconds without a byte after which a WebSocket is closed. */
  readonly webSocketIdle: number;
}

/** One call: what is asked of which function. */
export interface SyncCallFacts extends CallFacts {
  readonly entry: TableEntry;
  readonly limits: FunctionLimits;
  /** Bounds it to the head of its reply. */
  readonly limit: CallLimit;
  readonly counts: FunctionCounts;
  /** Unix nanoseconds. */
  readonly startTime: string;
  /** Path and query for the function. */
  readonly target: string;
  /** Flat; what the function gets behind those that the head forwards, but `Host`. */
  readonly headers: string[];
  readonly hasBody: boolean;
}

/** What a call fails with once its function was found. */
export type FailureCode = "bad_function_reply" | "function_unreachable" | "function_timeout" | "too_many_calls";
