import type { Edition } from "../../../api/editions.ts";
import type { AcceptParts } from "../../../core/calls/accept-call.ts";
import type { CallbackRules } from "../../../core/callbacks/callback-policy.ts";
import type { FunctionTable } from "../../../core/replicas/function-table.ts";
import type { CallSignals } from "../../../core/ports/call-signals.ts";
import type { QueueTable } from "../../../core/queues/queue-table.ts";
import type { Admission } from "../admission.ts";
import type { CallObserver } from "../call-observer.ts";
import type { WriteError } from "../write-error.ts";
import type { Acceptances } from "./acceptances.ts";
import type { AcceptMetrics } from "./accept-metrics.ts";
import type { EndWatch } from "./end-watch.ts";
import type { QueuePositions } from "./queue-positions.ts";

/** What the handler of `/async-function/…` works with. */
export interface AsyncParts extends AcceptParts {
  readonly admission: Admission;
  readonly table: FunctionTable;
  readonly queues: QueueTable;
  readonly signals: CallSignals;
  readonly positions: QueuePositions;
  readonly ends: EndWatch;
  readonly edition: Edition;
  readonly callbackRules: CallbackRules;
  /** Most bytes of a call's body. */
  readonly bodyLimit: number;
  /** Those that wait for the broker. */
  readonly acceptances: Acceptances;
  readonly metrics: AcceptMetrics;
  readonly writeError: WriteError;
  readonly observer: CallObserver;
}
