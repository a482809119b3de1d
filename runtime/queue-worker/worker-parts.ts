import type { CallTimes } from "../core/calls/call-ttl.ts";
import type { FunctionTable } from "../core/replicas/function-table.ts";
import type { QueuedCall } from "../core/calls/call.ts";
import type { DeliverySource } from "../core/ports/call-queue.ts";
import type { CallLedger } from "../core/ports/call-ledger.ts";
import type { CallSignals } from "../core/ports/call-signals.ts";
import type { CallbackQueue, QueuedCallback } from "../core/ports/callback-queue.ts";
import type { CallbackSender } from "../core/ports/callback-sender.ts";
import type { DeadLetters } from "../core/ports/dead-letters.ts";
import type { FunctionStore } from "../core/ports/function-store.ts";
import type { Invoker } from "../core/ports/invoker.ts";
import type { Leases } from "../core/ports/leases.ts";
import type { QueueDeclaration } from "../core/ports/queue-catalog.ts";
import type { Waker } from "../core/replicas/wake.ts";
import type { InvocationCounts } from "../process/metrics/invocation-counts.ts";
import type { Log } from "../process/log.ts";
import type { CallbackTimes } from "../core/callbacks/decide-callback.ts";
import type { WorkerMetrics } from "./worker-metrics.ts";

/** Everything a queue-worker works with. */
export interface WorkerParts {
  readonly queue: QueueDeclaration;
  /** Milliseconds above which no function's timeout counts. */
  readonly timeoutMax: number;
  /** Calls run at once. */
  readonly slots: number;
  readonly deliveries: DeliverySource<QueuedCall>;
  readonly callbackDeliveries: DeliverySource<QueuedCallback>;
  /** Milliseconds of a callback's lease: callbacks of all queues lie together. */
  readonly callbackAckWait: number;
  /** Workers of all queues, which share the callbacks. */
  readonly callbackWorkers: number;
  /** Says which worker of a strict queue has the turn. */
  readonly leases: Leases;
  readonly ledger: CallLedger;
  readonly signals: CallSignals;
  readonly callbacks: CallbackQueue;
  readonly sender: CallbackSender;
  readonly deadLetters: DeadLetters;
  /** Says what is deployed when the table does not know it yet. */
  readonly functions: Pick<FunctionStore, "get">;
  readonly table: FunctionTable;
  readonly waker: Pick<Waker, "wait">;
  readonly invoker: Invoker;
  /** Origin of the gateway through which functions are run; undefined = straight at a replica. */
  readonly runsThrough: string | undefined;
  /** Runs by function and status; undefined where the gateway counts them. */
  readonly runCounts: InvocationCounts | undefined;
  readonly times: CallTimes;
  readonly callbackTimes: CallbackTimes;
  /** Most bytes of output that are kept as a result. */
  readonly resultLimit: number;
  readonly metrics: WorkerMetrics;
  readonly log: Log;
}
