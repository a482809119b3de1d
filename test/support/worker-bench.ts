import { generateKeyPairSync, type KeyObject } from "node:crypto";

import { Registry } from "prom-client";

import { MemoryCallLedger } from "./memory/memory-call-ledger.ts";
import { MemoryCallQueue } from "./memory/memory-call-queue.ts";
import { MemoryCallSignals } from "./memory/memory-call-signals.ts";
import { MemoryCallbackQueue } from "./memory/memory-callback-queue.ts";
import { MemoryCallbackSecrets } from "./memory/memory-callback-secrets.ts";
import { MemoryDeadLetters } from "./memory/memory-dead-letters.ts";
import { MemoryFunctionStore } from "./memory/memory-function-store.ts";
import { MemoryKeptRequests } from "./memory/memory-kept-requests.ts";
import { MemoryLeases } from "./memory/memory-leases.ts";
import type { FunctionDeployment } from "../../runtime/api/schemas/function-deployment.ts";
import { acceptCall } from "../../runtime/core/calls/accept-call.ts";
import type { CallEntry } from "../../runtime/core/calls/call-entry.ts";
import { recordLifetime, type CallTimes } from "../../runtime/core/calls/call-ttl.ts";
import type { QueuedCall } from "../../runtime/core/calls/call.ts";
import type { DesiredFunction } from "../../runtime/core/functions/desired-function.ts";
import { FunctionTable } from "../../runtime/core/replicas/function-table.ts";
import type { DeliverySource } from "../../runtime/core/ports/call-queue.ts";
import type { CallbackOutcome, CallbackRequest } from "../../runtime/core/ports/callback-sender.ts";
import type { InvokeOptions, InvokeOutcome } from "../../runtime/core/ports/invoker.ts";
import { Waker } from "../../runtime/core/replicas/wake.ts";
import { createLog } from "../../runtime/process/log.ts";
import { buildQueueWorker, type QueueWorker } from "../../runtime/queue-worker/build-queue-worker.ts";
import { buildWorkerMetrics } from "../../runtime/queue-worker/worker-metrics.ts";
import type { WorkerParts } from "../../runtime/queue-worker/worker-parts.ts";
import { sampleCall, sampleQueue } from "../contract/samples.ts";
import { eventually } from "./eventually.ts";

/** One run, as the function saw it. */
export interface Run {
  readonly id: string;
  readonly attempt: number;
  readonly address: string;
  readonly startedAt: number;
  readonly signal: AbortSignal;
}

export type Answer = (call: QueuedCall, options: InvokeOptions, run: Run) => Promise<InvokeOutcome> | InvokeOutcome;

/** A response of a function. */
export function answered(
  status = 200,
  body = "out",
  headers: readonly string[] = ["Content-Type", "text/plain"],
): InvokeOutcome {
  return { kind: "responded", status, headers, body: Buffer.from(body), size: Buffer.byteLength(body), duration: 3 };
}

/** A run that lasts until it is aborted. */
export function hang(_call: QueuedCall, { signal }: InvokeOptions): Promise<InvokeOutcome> {
  return new Promise((resolve) => {
    const abort = (): void => resolve({ kind: "aborted", duration: 1 });
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
}

export interface BenchOptions {
  readonly ackWait?: number;
  readonly callMaxAge?: number;
  readonly attempts?: number;
  readonly slots?: number;
  readonly annotations?: FunctionDeployment["annotations"];
  readonly window?: number;
  readonly strict?: boolean;
  readonly maxResultBytes?: number;
}

/** Everything around queue-workers on memory adapters: one function `echo`, one replica, scripted responses. */
export class WorkerBench {
  readonly calls: MemoryCallQueue;
  readonly callbacks: MemoryCallbackQueue;
  readonly callbackSecrets = new MemoryCallbackSecrets();
  /** The platform's private keys for callbacks. */
  callbackKeys: readonly KeyObject[] = [generateKeyPairSync("ed25519").privateKey];
  readonly ledger: MemoryCallLedger;
  readonly signals = new MemoryCallSignals();
  readonly deadLetters = new MemoryDeadLetters();
  readonly requests = new MemoryKeptRequests();
  readonly leases = new MemoryLeases();
  readonly functions = new MemoryFunctionStore();
  readonly table = new FunctionTable({ defaultNamespace: "functions", aliases: [] });
  readonly times: CallTimes;
  readonly runs: Run[] = [];
  readonly sent: CallbackRequest[] = [];
  answer: Answer = () => answered();
  callbackAnswer: (request: CallbackRequest, signal: AbortSignal) => Promise<CallbackOutcome> | CallbackOutcome =
    () => ({
      kind: "responded",
      status: 200,
      retryAfter: undefined,
    });
  readonly #options: BenchOptions;
  readonly #workers: QueueWorker[] = [];

  constructor(options: BenchOptions = {}) {
    this.#options = options;
    const ackWait = options.ackWait ?? 3_000;
    this.times = { callMaxAge: options.callMaxAge ?? 604_800_000, callRecordTtl: 3_600_000, ackWait };
    this.calls = new MemoryCallQueue({ ackWait });
    this.callbacks = new MemoryCallbackQueue({ ackWait });
    this.ledger = new MemoryCallLedger({
      lifetime: recordLifetime(this.times),
      ...(options.maxResultBytes === undefined ? {} : { maxResultBytes: options.maxResultBytes }),
    });
    this.deploy();
    this.table.endpointsObserver.set({
      namespace: "functions",
      name: "echo",
      addresses: ["replica:1"],
      observedGeneration: 1,
      conditions: [],
    });
  }

  /** Adds function `echo` to the table. */
  deploy(annotations = this.#options.annotations): DesiredFunction {
    const at = "2026-01-01T00:00:00Z";
    const deployment: FunctionDeployment = {
      service: "echo",
      image: "x",
      ...(annotations === undefined ? {} : { annotations }),
    };
    const desired = {
      namespace: "functions",
      name: "echo",
      deployment,
      replicas: 1,
      generation: 1,
      createdAt: at,
      updatedAt: at,
    };
    this.table.functionObserver.set(desired);
    return desired;
  }

  parts(over: Partial<WorkerParts> = {}): WorkerParts {
    const { attempts = 10, slots = 4, window = 60_000, strict = false } = this.#options;
    const retry = { attempts, codes: [408, 429, 500, 502, 503, 504], minWait: 40, maxWait: 80 };
    return {
      worker: "bench:1",
      timeoutMax: 3_600_000,
      queue: sampleQueue({ ackWait: this.times.ackWait, timeout: 10_000, strict, retry }),
      slots,
      deliveries: this.calls.source("default"),
      callbackDeliveries: this.callbacks.source(),
      ledger: this.ledger,
      signals: this.signals,
      callbacks: this.callbacks,
      sender: {
        send: async (request, signal) => {
          this.sent.push(request);
          return this.callbackAnswer(request, signal);
        },
      },
      callbackSecrets: this.callbackSecrets,
      callbackKeys: () => this.callbackKeys,
      deadLetters: this.deadLetters,
      requests: this.requests,
      requestTtl: 0,
      functions: this.functions,
      table: this.table,
      waker: new Waker({
        functions: this.functions,
        table: this.table,
        wakeTimeout: 50,
        maxWaitingCallers: 10,
        maxWaitingBytes: 1e6,
      }),
      invoker: {
        invoke: async (address, call, options) => {
          const run: Run = {
            id: call.id,
            attempt: options.attempt,
            address,
            startedAt: performance.now(),
            signal: options.signal,
          };
          this.runs.push(run);
          return this.answer(call, options, run);
        },
      },
      runsThrough: undefined,
      runCounts: undefined,
      times: this.times,
      callbackTimes: { minWait: 20, maxWait: 40, window },
      resultLimit: 1_048_576,
      callbackAckWait: this.times.ackWait,
      callbackWorkers: 1,
      leases: this.leases,
      metrics: buildWorkerMetrics(new Registry()),
      log: createLog("test", "silent"),
      ...over,
    };
  }

  /** Starts a worker. */
  start(over: Partial<WorkerParts> = {}): QueueWorker {
    const worker = buildQueueWorker(this.parts(over));
    this.#workers.push(worker);
    void worker.run();
    return worker;
  }

  async accept(over: Partial<QueuedCall> = {}): Promise<string> {
    const call = sampleCall({ callbackUrl: undefined, start: BigInt(Date.now()) * 1_000_000n, ...over });
    return (await acceptCall({ calls: this.calls, ledger: this.ledger, acceptTimeout: 3_000 }, call, 10)).id;
  }

  async entry(id: string): Promise<CallEntry> {
    const found = await this.ledger.read(id);
    if (found === undefined) throw new Error("there is no record");
    return found.entry;
  }

  /** The record once it is `state` and, if that is an end, the call is settled and the queue empty. */
  async until(id: string, state: CallEntry["state"], within = 45_000): Promise<CallEntry> {
    return eventually(
      async () => {
        const entry = await this.entry(id);
        const settled = entry.ended === null || (entry.pending.length === 0 && this.calls.size("default") === 0);
        return entry.state === state && settled ? entry : undefined;
      },
      { within, every: 5, what: `the call to be ${state} and settled` },
    );
  }

  /** Runs of one call. */
  runsOf(id: string): Run[] {
    return this.runs.filter((run) => run.id === id);
  }

  /** Stops all workers at once. */
  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.stop(0)));
  }
}

/**
 * A worker's ports, all of which stop when the worker is killed: nothing more is read, written, called or signalled. It
 * sends callbacks only with `callbacks`.
 */
export function mortal(
  parts: WorkerParts,
  { callbacks = false }: { readonly callbacks?: boolean } = {},
): { readonly parts: WorkerParts; kill(): void; readonly dead: boolean } {
  const death = new AbortController();
  const died = new Promise<void>((resolve) => death.signal.addEventListener("abort", () => resolve()));
  let dead = false;
  const alive = async <T>(act: () => Promise<T>): Promise<T> => {
    if (dead) throw new Error("the process is dead");
    const value = await act();
    return dead ? new Promise<never>(() => {}) : value;
  };
  /** What begins after death never resolves; what was in flight then ends, but never resolves either. */
  const silent = async <T>(act: () => Promise<T>): Promise<T> => {
    const value = dead ? undefined : await act();
    return dead || value === undefined ? new Promise<never>(() => {}) : value;
  };
  const { ledger, deliveries, signals, invoker, sender, waker } = parts;
  const mortalSource = <T>(source: DeliverySource<T>): DeliverySource<T> => ({
    take: (slots, handle, signal, mayAsk) =>
      source.take(
        slots,
        async (delivery) => {
          const handled = handle({
            ...delivery,
            extend: () => !dead && delivery.extend(),
            acknowledge: async () => !dead && delivery.acknowledge(),
            requeue: (delay) => {
              if (!dead) delivery.requeue(delay);
            },
          });
          await Promise.race([handled, died]);
        },
        AbortSignal.any([signal, death.signal]),
        mayAsk,
      ),
  });
  return {
    get dead() {
      return dead;
    },
    kill: () => {
      dead = true;
      death.abort();
    },
    parts: {
      ...parts,
      ledger: {
        create: (id, entry, until) => alive(() => ledger.create(id, entry, until)),
        read: (id) => alive(() => ledger.read(id)),
        update: (id, entry, revision) => silent(() => ledger.update(id, entry, revision)),
        fill: () => ledger.fill(),
        now: () => ledger.now(),
        withdraw: (id, revision) => alive(() => ledger.withdraw(id, revision)),
        putResult: (id, run, result, ttl) => alive(() => ledger.putResult(id, run, result, ttl)),
        readResult: (id, run) => alive(() => ledger.readResult(id, run)),
        removeResult: (id, run) => alive(() => ledger.removeResult(id, run)),
      },
      deliveries: mortalSource(deliveries),
      callbackDeliveries: callbacks
        ? mortalSource(parts.callbackDeliveries)
        : { take: async (_slots, _handle, signal) => stopped(signal) },
      leases: {
        acquire: (name, holder, duration) => alive(() => parts.leases.acquire(name, holder, duration)),
        release: (name, holder) => alive(() => parts.leases.release(name, holder)),
      },
      signals: {
        cancelled: (id) => {
          if (!dead) signals.cancelled(id);
        },
        ended: (id) => {
          if (!dead) signals.ended(id);
        },
        onCancelled: (listener) => signals.onCancelled((id) => dead || listener(id)),
        onEnded: (listener) => signals.onEnded((id) => dead || listener(id)),
      },
      invoker: { invoke: (address, call, options) => silent(() => invoker.invoke(address, call, options)) },
      sender: { send: (request, signal) => silent(() => sender.send(request, signal)) },
      waker: { wait: (entry, caller) => silent(() => waker.wait(entry, caller)) },
      callbacks: { put: (callback, until) => alive(() => parts.callbacks.put(callback, until)) },
      deadLetters: { put: (letter) => alive(() => parts.deadLetters.put(letter)) },
    },
  };
}

async function stopped(signal: AbortSignal): Promise<void> {
  if (!signal.aborted)
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
