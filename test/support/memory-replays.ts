import { Registry } from "prom-client";

import type { QueuedCall } from "../../runtime/core/calls/call.ts";
import type { FunctionRef } from "../../runtime/core/functions/function-ref.ts";
import { desireFunction } from "../../runtime/core/functions/desired-function.ts";
import type { CallLedger } from "../../runtime/core/ports/call-ledger.ts";
import type { PutOutcome } from "../../runtime/core/ports/call-queue.ts";
import { QueueTable } from "../../runtime/core/queues/queue-table.ts";
import { FunctionTable } from "../../runtime/core/replicas/function-table.ts";
import { Admission } from "../../runtime/gateway/calls/admission.ts";
import { buildAcceptMetrics } from "../../runtime/gateway/calls/async/accept-metrics.ts";
import { Acceptances } from "../../runtime/gateway/calls/async/acceptances.ts";
import { createReplayAcceptor, type AcceptReplay } from "../../runtime/gateway/calls/async/accept-replay.ts";
import { sampleQueue } from "../contract/samples.ts";

/** The real acceptance of replays, of functions in a table, into a queue that only notes them. */
export class MemoryReplays {
  readonly accept: AcceptReplay;
  /** What was queued. */
  readonly queued: QueuedCall[] = [];
  /** What becomes of the next calls; stored when absent. */
  outcome: PutOutcome | undefined;
  readonly #table = new FunctionTable({ defaultNamespace: "functions", aliases: [] });

  constructor(ledger: CallLedger) {
    const queues = new QueueTable();
    for (const name of ["default", "slow"]) queues.observer.set(sampleQueue({ name }));
    queues.observer.synced();
    this.accept = createReplayAcceptor({
      admission: new Admission({
        table: this.#table,
        invokeAuth: false,
        authorise: () => {
          throw new Error("a replay is not admitted by its credentials");
        },
        clientOf: () => "",
        isPlatformCredential: (authorization) => authorization === "Basic platform",
      }),
      bodyLimit: 1_024,
      acceptTimeout: 3_000,
      acceptances: new Acceptances({ maxCalls: 10_000, maxBytes: 134_217_728 }),
      callbackRules: { policy: "public", allow: [], gatewayOrigins: [], closedPorts: [] },
      calls: {
        put: async (call) => {
          if (this.outcome !== undefined) return this.outcome;
          this.queued.push(call);
          return { kind: "stored" };
        },
      },
      edition: "enterprise",
      ledger,
      metrics: buildAcceptMetrics(new Registry()),
      queues,
    });
  }

  deploy(ref: FunctionRef, annotations: Readonly<Record<string, string>> = {}): void {
    const deployment = { service: ref.name, image: "none", annotations };
    this.#table.functionObserver.set(desireFunction(undefined, ref.namespace, deployment, "2026-01-01T00:00:00Z"));
  }
}
