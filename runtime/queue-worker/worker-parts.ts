import type { KeyObject } from "node:crypto";

import type { CallTimes } from "../core/calls/call-ttl.ts";
import type { FunctionTable } from "../core/replicas/function-table.ts";
import type { QueuedCall } from "../core/calls/call.ts";
import type { DeliverySource } from "../core/ports/call-queue.ts";
import type { CallLedger } from "../core/ports/call-ledger.ts";
import type { CallSignals } from "../core/ports/call-signals.ts";
import type { CallbackQueue, QueuedCallback } from "../core/ports/callback-queue.ts";
import type { CallbackSecrets } from "../core/ports/callback-secrets.ts";
import type { CallbackSender } from "../core/ports/callback-sender.ts";
import type { DeadLetters } from "../core/ports/dead-letters.ts";
import type { FunctionStore } from "../core/ports/function-store.ts";
import type { Invoker } from "../core/ports/invoker.ts";
import type { RequestKeeper } from "../core/ports/kept-requests.ts";
import type { Leases } from "../core/ports/leases.ts";
import type { QueueDeclaration } from "../core/ports/queue-catalog.ts";
import type { Waker } from "../core/replicas/wake.ts";
import type { InvocationCounts } from "../process/metrics/invocation-counts.ts";
import type { Log } from "../process/log.ts";
import type { CallbackTimes } from "../core/callbacks/decide-callback.ts";
import type { WorkerMetrics } from "./worker-metrics.ts";

/** Everything a queue-worker works with. */
export interface WorkerParts {
  /** Names this process in the records of calls. */
  readonly worker: string;
  readonly queue: QueueDeclaration;
  /** Upper limit of every function's timeout, milliseconds. */
  readonly timeoutMax: number;
  /** Calls run at once. */
  readonly slots: number;
  readonly deliveries: DeliverySource<QueuedCall>;
  readonly callbackDeliveries: DeliverySource<QueuedCallback>;
  /** Lease of a callback, milliseconds; callbacks of all queues share one stream. */
  readonly callbackAckWait: number;
  /** Workers of all queues, which share the callbacks. */
  readonly callbackWorkers: number;
  /** Decides which worker of a strict queue has the turn. */
  readonly leases: Leases;
  readonly ledger: CallLedger;
  readonly signals: CallSignals;
  readonly callbacks: CallbackQueue;
  readonly sender: CallbackSender;
  readonly callbackSecrets: CallbackSecrets;
  /** The platform's private keys, the current one first; they sign callbacks of functions that name no secret. */
  readonly callbackKeys: () => readonly KeyObject[];
  readonly deadLetters: DeadLetters;
  readonly requests: RequestKeeper;
  /**
   * How long requests of ended calls are kept whose functions do not say so, milliseconds; 0 = not at all. Undefined:
   * nothing is kept, whatever functions say.
   */
  readonly requestTtl: number | undefined;
  /** Asked about functions that the table does not know. */
  readonly functions: Pick<FunctionStore, "get">;
  readonly table: FunctionTable;
  readonly waker: Pick<Waker, "wait">;
  readonly invoker: Invoker;
  /** Origin of the gateway through which functions are run; undefined = replicas are called directly. */
  readonly runsThrough: string | undefined;
  /** Runs by function and status; undefined where the gateway counts them. */
  readonly runCounts: InvocationCounts | undefined;
  readonly times: CallTimes;
  readonly callbackTimes: CallbackTimes;
  /** Largest output that is kept as a result, bytes. */
  readonly resultLimit: number;
  readonly metrics: WorkerMetrics;
  readonly log: Log;
}
