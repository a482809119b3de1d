import { Registry } from "prom-client";

import { MemoryCallLedger } from "./memory/memory-call-ledger.ts";
import { MemoryCallQueue } from "./memory/memory-call-queue.ts";
import { MemoryCallSignals } from "./memory/memory-call-signals.ts";
import type { Edition } from "../../runtime/api/editions.ts";
import type { CallbackRules } from "../../runtime/core/callbacks/callback-policy.ts";
import type { FunctionTable } from "../../runtime/core/replicas/function-table.ts";
import type { CallLedger } from "../../runtime/core/ports/call-ledger.ts";
import { QueueTable } from "../../runtime/core/queues/queue-table.ts";
import { Admission, type AdmissionParts } from "../../runtime/gateway/calls/admission.ts";
import { buildAcceptMetrics } from "../../runtime/gateway/calls/async/accept-metrics.ts";
import { Acceptances } from "../../runtime/gateway/calls/async/acceptances.ts";
import type { AsyncParts } from "../../runtime/gateway/calls/async/async-parts.ts";
import { createAsyncInvoker } from "../../runtime/gateway/calls/async/async-invoker.ts";
import { EndWatch } from "../../runtime/gateway/calls/async/end-watch.ts";
import { QueuePositions } from "../../runtime/gateway/calls/async/queue-positions.ts";
import { createErrorWriter } from "../../runtime/gateway/error-handler.ts";
import type { HandleCall } from "../../runtime/gateway/calls/sync/sync-invoker.ts";
import { createLog } from "../../runtime/process/log.ts";
import { sampleQueue } from "../contract/samples.ts";

const minute = 60_000;

export interface MemoryAsyncOptions {
  readonly queues?: readonly string[];
  readonly edition?: Edition;
  /** Of callbacks. */
  readonly policy?: CallbackRules["policy"];
  readonly ledger?: CallLedger;
  readonly calls?: MemoryCallQueue;
  readonly acceptances?: Acceptances;
  /** Who may call. */
  readonly admission?: Partial<AdmissionParts>;
}

/** The real handler of `/async-function/` for the functions of `table`; it keeps calls and records in memory. */
export function openMemoryAsyncInvoker(table: FunctionTable, options: MemoryAsyncOptions = {}): HandleCall {
  return createAsyncInvoker(memoryAsyncParts(table, options));
}

/** What it works with. */
export function memoryAsyncParts(table: FunctionTable, options: MemoryAsyncOptions = {}): AsyncParts {
  const { edition = "community", policy = "any", queues: names = ["default"], ledger } = options;
  const signals = new MemoryCallSignals();
  const queues = new QueueTable();
  for (const name of names) queues.observer.set(sampleQueue({ name }));
  queues.observer.synced();
  const calls = options.calls ?? new MemoryCallQueue({ ackWait: minute });
  return {
    admission: new Admission({
      table,
      invokeAuth: false,
      authorise: () => {},
      clientOf: () => "",
      isPlatformCredential: () => false,
      ...options.admission,
    }),
    table,
    queues,
    calls,
    ledger: ledger ?? new MemoryCallLedger(),
    signals,
    ends: new EndWatch(signals),
    positions: new QueuePositions(calls),
    edition,
    callbackRules: { policy, allow: [], gatewayOrigins: ["http://gateway.weir:8080"], closedPorts: [4222] },
    bodyLimit: 1_048_576,
    acceptTimeout: 3_000,
    acceptances: options.acceptances ?? new Acceptances({ maxCalls: 10_000, maxBytes: 134_217_728 }),
    metrics: buildAcceptMetrics(new Registry()),
    writeError: createErrorWriter(createLog("test", "silent")).writeError,
    observer: { ended: () => {}, answered: () => {} },
  };
}
