import { randomUUID } from "node:crypto";

import type { Registry } from "prom-client";

import { PlatformError } from "../api/platform-error.ts";
import { reportActivity } from "../core/activity-reporter.ts";
import type { QueuedCall } from "../core/call.ts";
import { FunctionTable } from "../core/function-table.ts";
import type { Activity } from "../core/ports/activity.ts";
import type { CallLedger } from "../core/ports/call-ledger.ts";
import type { DeliverySource } from "../core/ports/call-queue.ts";
import type { CallSignals } from "../core/ports/call-signals.ts";
import type { CallbackQueue, QueuedCallback } from "../core/ports/callback-queue.ts";
import type { CallbackSender } from "../core/ports/callback-sender.ts";
import type { DeadLetters } from "../core/ports/dead-letters.ts";
import type { Endpoints } from "../core/ports/endpoints.ts";
import type { FunctionStore } from "../core/ports/function-store.ts";
import type { Invoker } from "../core/ports/invoker.ts";
import type { QueueCatalog, QueueDeclaration } from "../core/ports/queue-catalog.ts";
import { Waker } from "../core/wake.ts";
import type { Log } from "../process/log.ts";
import { buildQueueWorker } from "./build-queue-worker.ts";
import { CountedInvoker } from "./counted-invoker.ts";
import type { QueueWorkerSettings } from "./settings.ts";
import { buildWorkerMetrics } from "./worker-metrics.ts";

/** Everything a worker is opened with. */
export interface QueueWorkerSources {
  readonly settings: QueueWorkerSettings;
  readonly catalog: QueueCatalog;
  readonly functions: FunctionStore;
  readonly endpoints: Endpoints;
  readonly ledger: CallLedger;
  readonly signals: CallSignals;
  readonly activity: Activity;
  readonly callbacks: CallbackQueue;
  readonly deadLetters: DeadLetters;
  readonly openDeliveries: (queue: QueueDeclaration) => DeliverySource<QueuedCall>;
  readonly openCallbacks: (queue: QueueDeclaration) => DeliverySource<QueuedCallback>;
  /** Calls run at once. */
  readonly slots: (queue: QueueDeclaration) => number;
  readonly invoker: Invoker;
  readonly sender: CallbackSender;
  readonly registry: Registry;
  readonly reconnects: () => number;
  readonly log: Log;
}

/** A worker that takes calls. */
export interface OpenQueueWorker {
  readonly queue: QueueDeclaration;
  /** Takes no more, lets runs finish within the grace, hands the rest back. */
  close(): Promise<void>;
}

/**
 * Reads the declaration of its queue, fills the table of functions and begins to take calls.
 * @throws PlatformError `queue_not_found` when the queue is not declared
 */
export async function openQueueWorker(sources: QueueWorkerSources): Promise<OpenQueueWorker> {
  const { settings } = sources;
  const queue = await sources.catalog.get(settings.queue);
  if (queue === undefined) {
    throw new PlatformError(
      "queue_not_found",
      `Cannot work on queue "${settings.queue}": it is not declared; is the queue-doctor running?`,
    );
  }
  const table = new FunctionTable({ defaultNamespace: settings.functionNamespace, aliases: [] });
  const waker = new Waker({
    functions: sources.functions,
    table,
    wakeTimeout: settings.wakeTimeout,
    maxWaitingCallers: settings.maxWaitingCallers,
  });
  const invoker = new CountedInvoker(sources.invoker);
  const worker = buildQueueWorker({
    ...sources,
    queue,
    slots: sources.slots(queue),
    deliveries: sources.openDeliveries(queue),
    callbackDeliveries: sources.openCallbacks(queue),
    table,
    waker,
    invoker,
    times: { callAge: settings.callAge, callRecordTtl: settings.callRecordTtl, ackWait: queue.ackWait },
    callbackTimes: {
      minWait: settings.callbackMinWait,
      maxWait: settings.callbackMaxWait,
      window: settings.callbackWindow,
    },
    resultLimit: settings.asyncMaxBody,
    metrics: buildWorkerMetrics(sources.registry, sources.reconnects),
  });
  const endFunctions = await sources.functions.watch(table.functionObserver);
  const endEndpoints = await sources.endpoints.watch(table.endpointsObserver);
  const endReports = reportActivity(sources.activity, `queue-worker-${randomUUID()}`, () => invoker.totals());
  const running = worker.run();
  running.catch((err: unknown) => sources.log.fatal({ err }, "queue-worker stopped taking calls"));

  return {
    queue,
    close: async () => {
      await worker.stop(queue.timeout);
      endReports();
      endEndpoints();
      endFunctions();
    },
  };
}
