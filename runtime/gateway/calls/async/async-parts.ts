import type { Edition } from "../../../api/editions.ts";
import type { AcceptParts } from "../../../core/calls/accept-call.ts";
import type { CallbackRules } from "../../../core/callbacks/callback-policy.ts";
import type { DesiredFunction } from "../../../core/functions/desired-function.ts";
import type { FunctionLimits } from "../../../core/functions/function-limits.ts";
import type { FunctionTable } from "../../../core/replicas/function-table.ts";
import type { CallSignals } from "../../../core/ports/call-signals.ts";
import type { QueueTable } from "../../../core/queues/queue-table.ts";
import type { CallObserver } from "../call-observer.ts";
import type { WriteError } from "../write-error.ts";
import type { AcceptMetrics } from "./accept-metrics.ts";
import type { EndWatch } from "./end-watch.ts";
import type { QueuePositions } from "./queue-positions.ts";

/** What the handler of `/async-function/…` works with. */
export interface AsyncParts extends AcceptParts {
  readonly table: FunctionTable;
  readonly queues: QueueTable;
  readonly signals: CallSignals;
  readonly positions: QueuePositions;
  readonly ends: EndWatch;
  readonly edition: Edition;
  readonly limitsOf: (wanted: DesiredFunction) => FunctionLimits;
  /** Every function needs credentials (`invoke_auth`). */
  readonly invokeAuth: boolean;
  readonly authorise: (authorization: string | undefined, client: string) => void;
  readonly clientOf: (peer: string | undefined, forwardedFor: string | undefined) => string;
  readonly isPlatformCredential: (authorization: string) => boolean;
  readonly callbackRules: CallbackRules;
  /** Most bytes of a call's body. */
  readonly bodyLimit: number;
  readonly metrics: AcceptMetrics;
  readonly writeError: WriteError;
  readonly observer: CallObserver;
}
