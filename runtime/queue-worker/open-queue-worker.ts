import { randomUUID } from "node:crypto";
import { hostname } from "node:os";

import { drainTimeoutOf } from "../settings/drain-settings.ts";
import { defaultQueue } from "../api/names.ts";
import { withScalingReports } from "../core/history/reports/scaling-report-store.ts";
import type { RegisteredReplicas } from "../core/callbacks/replica-places.ts";
import { reportActivity } from "../core/scaling/activity-reporter.ts";
import type { CallTimes } from "../core/calls/call-ttl.ts";
import type { QueuedCall } from "../core/calls/call.ts";
import { FunctionTable } from "../core/replicas/function-table.ts";
import type { Activity } from "../core/ports/activity.ts";
import type { CallLedger } from "../core/ports/call-ledger.ts";
import type { DeliverySource } from "../core/ports/call-queue.ts";
import type { CallSignals } from "../core/ports/call-signals.ts";
import type { CallbackQueue, QueuedCallback } from "../core/ports/callback-queue.ts";
import type { CallbackSecrets } from "../core/ports/callback-secrets.ts";
import type { CallbackSender } from "../core/ports/callback-sender.ts";
import type { DeadLetters } from "../core/ports/dead-letters.ts";
import type { Endpoints } from "../core/ports/endpoints.ts";
import type { FunctionStore } from "../core/ports/function-store.ts";
import type { HistoryReports } from "../core/ports/history-reports.ts";
import type { Invoker } from "../core/ports/invoker.ts";
import type { RequestKeeper } from "../core/ports/kept-requests.ts";
import type { Leases } from "../core/ports/leases.ts";
import type { QueueCatalog, QueueDeclaration } from "../core/ports/queue-catalog.ts";
import type { QueueStates } from "../core/ports/queue-states.ts";
import { Waker } from "../core/replicas/wake.ts";
import type { InvocationMetrics } from "../process/metrics/invocation-metrics.ts";
import type { Log } from "../process/log.ts";
import { buildQueueWorker } from "./build-queue-worker.ts";
import { openCallbackKeys } from "./callbacks/open-callback-keys.ts";
import { CountedInvoker } from "./counted-invoker.ts";
import { declaredQueue } from "./declared-queue.ts";
import { LoggedInvoker } from "./logged-invoker.ts";
import { buildRunReports } from "./run-reports.ts";
import type { QueueWorkerSettings } from "./settings.ts";
import type { WorkerMetrics } from "./worker-metrics.ts";
import { workerName } from "./worker-name.ts";

/** Milliseconds. */
const declarationWait = { within: 30_000, every: 250 };

/** Everything needed to open a worker. */
export interface QueueWorkerSources {
  readonly settings: QueueWorkerSettings;
  readonly catalog: QueueCatalog;
  readonly functions: FunctionStore;
  readonly endpoints: Endpoints;
  /** Filled by the watch of `endpoints`. */
  readonly replicas?: RegisteredReplicas;
  readonly openLedger: (times: CallTimes) => CallLedger;
  readonly signals: CallSignals;
  readonly activity: Activity;
  /** Absent: nobody keeps a history. */
  readonly reports?: HistoryReports | undefined;
  readonly callbacks: CallbackQueue;
  readonly deadLetters: DeadLetters;
  readonly requests: RequestKeeper;
  readonly states: QueueStates;
  readonly leases: Leases;
  readonly openDeliveries: (queue: QueueDeclaration) => DeliverySource<QueuedCall>;
  /** `ackWait` in milliseconds. */
  readonly openCallbacks: (queue: string, ackWait: number) => DeliverySource<QueuedCallback>;
  /** Calls run at once, unless the queue is strict. */
  readonly slots: (queue: QueueDeclaration) => number;
  readonly invoker: Invoker;
  /** Origin of the gateway, if `invoker` goes through it; the gateway then counts the runs. */
  readonly runsThrough?: string | undefined;
  /** Called with each address that no function has any more. */
  readonly onGone?: (address: string) => void;
  readonly sender: CallbackSender;
  readonly callbackSecrets: CallbackSecrets;
  readonly metrics: WorkerMetrics;
  /** Where runs are counted, shared by the workers of one process; runs through the gateway are not counted here. */
  readonly invocations: InvocationMetrics;
  readonly reconnects: () => number;
  readonly log: Log;
}

/** A worker that takes calls. */
export interface OpenQueueWorker {
  readonly queue: QueueDeclaration;
  /** Runs in flight. */
  readonly running: number;
  /** Takes no more calls, lets runs finish within `drain_timeout`, hands the rest back. */
  close(): Promise<void>;
}

/**
 * Reads the declaration of its queue, fills the table of functions and begins to take calls.
 * @throws PlatformError `queue_not_found` when the queue is not declared, `internal_error` without a key for callbacks
 */
export async function openQueueWorker(sources: QueueWorkerSources): Promise<OpenQueueWorker> {
  const { settings } = sources;
  const callbackKeys = openCallbackKeys(settings.secretMountPath);
  const queue = await declaredQueue(sources.catalog, settings.queue, {
    ...declarationWait,
    onWait: () => sources.log.info({ queue: settings.queue }, "waiting for the queue-doctor to declare the queue"),
  });
  // Callbacks of all queues share one stream, with the lease of the default queue.
  const queues = await sources.catalog.list();
  const callbackAckWait = queues.find(({ name }) => name === defaultQueue)?.ackWait ?? queue.ackWait;
  const table = new FunctionTable({ defaultNamespace: settings.functionNamespace, aliases: [] });
  if (sources.onGone !== undefined) table.onGone(sources.onGone);
  const reports = settings.history ? sources.reports : undefined;
  const source = `queue-worker-${randomUUID()}`;
  const waker = new Waker({
    functions: withScalingReports(sources.functions, reports),
    table,
    wakeTimeout: settings.wakeTimeout,
    maxWaitingCallers: settings.maxWaitingCallers,
    maxWaitingBytes: settings.maxWaitingBytes,
  });
  const logged = new LoggedInvoker(sources.invoker, sources.log, settings.writeDebug);
  const invoker = new CountedInvoker(logged);
  const { states } = sources;
  const counting = sources.runsThrough === undefined;
  const runReports = buildRunReports({ reports, source, queue: queue.name, states, table, counting });
  const runCounts = runReports.counts;
  table.onRemoved(({ key }) => {
    invoker.forget(key);
    runCounts?.forget(key);
  });
  const times = { callMaxAge: settings.callMaxAge, callRecordTtl: settings.callRecordTtl, ackWait: queue.ackWait };
  const worker = buildQueueWorker({
    ...sources,
    worker: workerName(hostname(), process.pid),
    callbackKeys,
    queue,
    timeoutMax: settings.timeoutMax,
    ledger: sources.openLedger(times),
    slots: queue.strict ? 1 : sources.slots(queue),
    deliveries: sources.openDeliveries(queue),
    callbackDeliveries: sources.openCallbacks(queue.name, callbackAckWait),
    callbackAckWait,
    callbackWorkers: queues.reduce((sum, { replicas }) => sum + replicas, 0),
    table,
    waker,
    invoker: sources.runsThrough === undefined ? invoker : logged,
    runsThrough: sources.runsThrough,
    runCounts,
    times,
    callbackTimes: {
      minWait: settings.callbackMinWait,
      maxWait: settings.callbackMaxWait,
      window: settings.callbackWindow,
    },
    requestTtl: settings.history ? settings.historyBodies : undefined,
    resultLimit: settings.asyncMaxBody,
  });
  const endFunctions = await sources.functions.watch(table.functionObserver);
  const endpoints = sources.replicas?.following(sources.endpoints) ?? sources.endpoints;
  const endEndpoints = await endpoints.watch(table.endpointsObserver);
  const endReports = reportActivity(
    sources.activity,
    source,
    () => invoker.totals(),
    () => ({ queue: queue.name, slots: worker.slots, running: worker.running }),
  );
  const endRunReports = runReports.open();
  const endFigures = sources.metrics.watch(queue.name, sources);
  const endCounts = runCounts && sources.invocations.show(runCounts);
  const running = worker.run();
  running.catch((err: unknown) => sources.log.fatal({ err }, "queue-worker stopped taking calls"));

  return {
    queue,
    get running() {
      return worker.running;
    },
    close: async () => {
      await worker.stop(drainTimeoutOf(settings));
      endFigures();
      endCounts?.();
      endReports();
      endRunReports();
      endEndpoints();
      endFunctions();
    },
  };
}
