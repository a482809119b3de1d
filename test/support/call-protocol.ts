import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";

import fc from "fast-check";
import { Registry } from "prom-client";
import { expect } from "vitest";

import { PlatformError } from "../../runtime/api/platform-error.ts";
import { acceptCall } from "../../runtime/core/calls/accept-call.ts";
import { cancelCall } from "../../runtime/core/calls/cancel-call.ts";
import { headerValue } from "../../runtime/core/headers/header-list.ts";
import type { QueueWorker } from "../../runtime/queue-worker/build-queue-worker.ts";
import { buildWorkerMetrics } from "../../runtime/queue-worker/worker-metrics.ts";
import { sampleCall } from "../contract/samples.ts";
import { eventually } from "./eventually.ts";
import { faultPlan, type FaultPlan } from "./fault-plan.ts";
import { checkInvariants, type SettledCall } from "./ledger-invariants.ts";
import { accountOf, type LedgerLine } from "./ledger.ts";
import {
  faultyCallbackQueue,
  faultyCallLedger,
  faultyCallQueue,
  faultyDeadLetters,
  faultyDeliverySource,
} from "./port-faults.ts";
import { answered, hang, mortal, WorkerBench } from "./worker-bench.ts";
import { preciseNow } from "./precise-now.ts";

const slots = 3;
const url = "http://receiver.example/";
/** How the function handles a call, selected by the call's body. */
const behaviours = ["ok", "slow", "retry", "rejected", "exhausted"] as const;

/** Outcomes of a run after which the call may run again. */
const runsAgain: ReadonlySet<string> = new Set(["lost", "handed-back"]);

/** How many calls were sent and how many workers run. */
interface Model {
  calls: number;
  workers: number;
}

/** The real system: memory adapters whose operations fail according to a plan, and the test's own account. */
class Protocol {
  readonly bench = new WorkerBench({ ackWait: 600, attempts: 2, slots });
  readonly plan: FaultPlan;
  readonly ids: string[] = [];
  readonly lines: LedgerLine[] = [];
  /** Ids of calls, including those derived when a known id was sent with another call. */
  readonly seen = new Set<string>();
  readonly #workers: { readonly worker: QueueWorker; readonly kill: () => void }[] = [];
  readonly #lost: (() => Promise<number>)[] = [];
  /** Runs in flight in workers when these were killed. */
  inFlightAtKills = 0;

  constructor(seed: number) {
    const kinds = ["timed-out", "answer-lost", "unavailable"] as const;
    this.plan = faultPlan(
      kinds.map((kind) => ({ operation: "*", fault: { kind }, probability: 0.04 })),
      seed,
    );
    const { bench } = this;
    bench.answer = async (call, options) => {
      switch (Buffer.from(call.body).toString()) {
        case "slow":
          return Promise.race([pause(60).then(() => answered()), hang(call, options)]);
        case "retry":
          return options.attempt === 1 ? answered(503) : answered();
        case "rejected":
          return answered(422);
        case "exhausted":
          return answered(500);
        default:
          return answered();
      }
    };
    bench.callbackAnswer = (request) => {
      const id = headerValue(request.headers, "x-call-id") ?? "";
      this.lines.push({
        kind: "callback",
        id,
        at: preciseNow(),
        headers: {},
        bodyHash: "",
        bodySize: 0,
        answered: 200,
      });
      return { kind: "responded", status: 200, retryAfter: undefined };
    };
  }

  async send(index: number, behaviour: string, callback: boolean): Promise<void> {
    const id = (this.ids[index] ??= randomUUID());
    const sentAt = preciseNow();
    const call = sampleCall({
      id,
      body: Buffer.from(behaviour),
      callbackUrl: callback ? url : undefined,
      start: BigInt(Date.now()) * 1_000_000n,
    });
    const { calls, ledger, times } = this.bench;
    const parts = {
      calls: faultyCallQueue(calls, this.plan),
      ledger: faultyCallLedger(ledger, this.plan),
      times,
      acceptTimeout: 3_000,
    };
    const outcome = await acceptCall(parts, call, 2).then(
      (accepted) => ({ id: accepted.id, class: "accepted" as const }),
      (err: unknown) => {
        const refused = err instanceof PlatformError && err.callQueued === "no";
        return { id, class: refused ? ("refused" as const) : ("unknown" as const) };
      },
    );
    this.seen.add(outcome.id);
    this.lines.push({ kind: "sent", sequence: index, sentAt, answeredAt: preciseNow(), callback, ...outcome });
  }

  async cancel(index: number): Promise<void> {
    const id = this.ids[index];
    if (id === undefined) return;
    const { signals, ledger } = this.bench;
    await cancelCall({ ledger: faultyCallLedger(ledger, this.plan), signals }, id, () => {}).catch(() => {});
  }

  startWorker(plan: FaultPlan | undefined = this.plan): void {
    const { bench } = this;
    const faulty =
      plan === undefined
        ? bench.parts()
        : bench.parts({
            ledger: faultyCallLedger(bench.ledger, plan),
            deliveries: faultyDeliverySource(bench.calls.source("default"), plan),
            callbackDeliveries: faultyDeliverySource(bench.callbacks.source(), plan),
            callbacks: faultyCallbackQueue(bench.callbacks, plan),
            deadLetters: faultyDeadLetters(bench.deadLetters, plan),
          });
    const registry = new Registry();
    const metrics = buildWorkerMetrics(registry);
    const { parts, kill } = mortal({ ...faulty, metrics }, { callbacks: true });
    const worker = bench.start(parts);
    const lost = async (): Promise<number> => {
      const found = (await registry.getMetricsAsJSON()).find(({ name }) => name === "queue_worker_runs_total");
      return (found?.values ?? [])
        .filter(({ labels }) => "outcome" in labels && runsAgain.has(String(labels["outcome"])))
        .reduce((sum, { value }) => sum + value, 0);
    };
    this.#lost.push(lost);
    this.#workers.push({ worker, kill });
  }

  /** Runs that lost their lease to faults or were handed back by a stopping worker: each call may have run again. */
  async lostRuns(): Promise<number> {
    return (await Promise.all(this.#lost.map((count) => count()))).reduce((sum, count) => sum + count, 0);
  }

  killWorker(index: number): void {
    const [found] = this.#workers.splice(index % this.#workers.length, 1);
    this.inFlightAtKills += found?.worker.running ?? 0;
    found?.kill();
  }

  async stopWorker(index: number): Promise<void> {
    const [found] = this.#workers.splice(index % this.#workers.length, 1);
    await found?.worker.stop(20);
  }

  /** Starts a worker without faults, waits until all calls have ended, and returns the violated invariants. */
  async settle(): Promise<readonly string[]> {
    const { bench } = this;
    this.startWorker(faultPlan([]));
    await eventually(() => bench.calls.size("default") === 0 && bench.callbacks.size === 0, {
      within: 12_000,
      every: 5,
      what: `empty queues; seed ${this.plan.seed}, faults ${this.plan.happened.join(", ")}`,
    });
    const statuses = new Map<string, SettledCall>();
    for (const id of this.seen) {
      const found = await bench.ledger.read(id);
      if (found !== undefined) statuses.set(id, found.entry);
    }
    const runs = bench.runs.map((run, index): LedgerLine => ({
      kind: "run-started",
      run: String(index),
      id: run.id,
      at: run.startedAt,
    }));
    const faults = this.plan.happened.length;
    const { violations } = checkInvariants(
      { ...accountOf([...strongest(this.lines), ...runs]), statuses },
      { extraRuns: this.inFlightAtKills + (await this.lostRuns()), extraCallbacks: faults + this.inFlightAtKills },
    );
    return violations.map(({ sentence }) => sentence);
  }
}

/** Keeps one outcome of an id that was sent several times: accepted, else unknown, else refused. */
function strongest(lines: readonly LedgerLine[]): LedgerLine[] {
  const rank = { accepted: 0, unknown: 1, refused: 2 };
  const sent = Map.groupBy(
    lines.filter((line) => line.kind === "sent"),
    ({ id }) => id,
  );
  const best = [...sent.values()].flatMap((all) => all.toSorted((a, b) => rank[a.class] - rank[b.class]).slice(0, 1));
  return [...lines.filter((line) => line.kind !== "sent"), ...best];
}

type Command = fc.AsyncCommand<Model, Protocol>;
const command = (
  name: string,
  run: (protocol: Protocol, model: Model) => Promise<void> | void,
  check: (model: Model) => boolean = () => true,
): Command => ({
  check,
  run: async (model, protocol) => run(protocol, model),
  toString: () => name,
});

const commands = [
  fc.tuple(fc.constantFrom(...behaviours), fc.boolean()).map(([behaviour, callback]) =>
    command(`send ${behaviour}${callback ? " with callback" : ""}`, async (protocol, model) => {
      await protocol.send(model.calls, behaviour, callback);
      model.calls += 1;
    }),
  ),
  fc.tuple(fc.nat(20), fc.constantFrom(...behaviours), fc.boolean()).map(([index, behaviour, callback]) =>
    command(
      `send call ${index} again`,
      (protocol, model) => {
        const sent = protocol.lines.find((line) => line.kind === "sent" && line.sequence === index % model.calls);
        return sent?.kind === "sent" ? protocol.send(sent.sequence, behaviour, callback) : undefined;
      },
      ({ calls }) => calls > 0,
    ),
  ),
  fc.nat(20).map((index) =>
    command(
      `cancel ${index}`,
      (protocol, model) => protocol.cancel(index % model.calls),
      ({ calls }) => calls > 0,
    ),
  ),
  fc.constant(
    command(
      "start a worker",
      (protocol, model) => {
        protocol.startWorker();
        model.workers += 1;
      },
      ({ workers }) => workers < 3,
    ),
  ),
  fc.nat(3).map((index) =>
    command(
      `kill worker ${index}`,
      (protocol, model) => {
        protocol.killWorker(index);
        model.workers -= 1;
      },
      ({ workers }) => workers > 0,
    ),
  ),
  fc.nat(3).map((index) =>
    command(
      `stop worker ${index}`,
      async (protocol, model) => {
        await protocol.stopWorker(index);
        model.workers -= 1;
      },
      ({ workers }) => workers > 0,
    ),
  ),
  fc.constantFrom(1, 10, 50).map((time) => command(`${time} ms pass`, () => pause(time))),
];

/** Runs this many random sequences of commands, each on a new protocol; a violated invariant fails with the seed. */
export async function checkCallProtocol(sequences: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.commands(commands, { maxCommands: 40, size: "max" }), fc.nat(), async (sequence, seed) => {
      const protocol = new Protocol(seed);
      try {
        await fc.asyncModelRun(() => ({ model: { calls: 0, workers: 0 }, real: protocol }), sequence);
        expect(await protocol.settle(), `seed ${seed}`).toEqual([]);
      } finally {
        await protocol.bench.close();
      }
    }),
    { numRuns: sequences, endOnFailure: true },
  );
}
