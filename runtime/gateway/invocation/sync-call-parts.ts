import type { IncomingMessage, ServerResponse } from "node:http";

import type { TableEntry } from "../../core/function-table.ts";
import type { Upstream } from "../../core/ports/upstream.ts";
import type { Waker } from "../../core/wake.ts";
import type { CallLimits } from "./call-limits.ts";
import type { DeadlineSweep } from "./deadline-sweep.ts";
import type { FlushLater } from "./flush-later.ts";
import type { FunctionCounts } from "./invocation-counts.ts";
import type { WriteError } from "./write-error.ts";

/** What all synchronous calls of a gateway share. */
export interface SyncCallParts {
  readonly upstream: Upstream;
  readonly waker: Pick<Waker, "wait">;
  readonly sweep: DeadlineSweep;
  readonly flushLater: FlushLater;
  readonly writeError: WriteError;
  /** Whether the gateway is stopping, so that replies close their connections. */
  readonly draining: () => boolean;
}

/** One call: what is asked of which function. */
export interface SyncCallFacts {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly entry: TableEntry;
  readonly limits: CallLimits;
  readonly counts: FunctionCounts;
  readonly callId: string;
  /** Unix nanoseconds. */
  readonly startTime: string;
  /** Path and query for the function. */
  readonly target: string;
  /** Flat and complete but for `Host`. */
  readonly headers: string[];
  readonly hasBody: boolean;
}
