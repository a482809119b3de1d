import { expect } from "vitest";

import { eventually } from "./eventually.ts";
import { openFaultBench, type FaultBench } from "./fault-bench.ts";
import type { Run } from "./ledger.ts";
import type { PlatformProcess } from "./platform-process.ts";
import type { Platform } from "./platform.ts";

/** A worker that gets no processor for so long loses its call: that would be an extra run that nothing here caused. */
const ackWait = 3_000;
const queue = "ordered";
/** Milliseconds that a run takes. */
const runTime = 60;
/** One call in so many fails before it succeeds. */
const shakyEvery = 6;
/** How often such a call fails. */
export const shakyFailures = 2;
/** Callbacks that one worker sends to one host at once. */
export const callbacksAtOnce = 4;

/** A bench whose function `ordered` is served by two workers of a strict queue. */
export async function openStrictBench(): Promise<FaultBench> {
  const opened = await openFaultBench({
    ackWait,
    retryMinWait: 300,
    retryMaxWait: 600,
    queues: { [queue]: { workers: 2, entry: { strict: true } } },
  });
  const failed = new Map<string, number>();
  await opened.open(
    "ordered",
    (request, response) => {
      const id = String(request.headers["x-call-id"]);
      const before = failed.get(id) ?? 0;
      const fails = request.url === "/shaky" && before < shakyFailures;
      if (fails) failed.set(id, before + 1);
      setTimeout(() => response.writeHead(fails ? 503 : 200).end(), runTime);
    },
    { annotations: { "com.service.queue": queue } },
  );
  return opened;
}

export const isShaky = (_id: string, index: number): boolean => index % shakyEvery === 1;

/** Queues so many calls, one after the other; returns their ids in the order of acceptance. */
export async function queueOrdered({ platform, sink }: FaultBench, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const tail = isShaky("", index) ? "/shaky" : "/";
    ids.push(await platform.calls.accepted("ordered", { tail, callbackUrl: sink.url }));
  }
  return ids;
}

/** The worker of the queue that runs its calls: no other one's count grows. */
export async function holderOf(platform: Platform): Promise<PlatformProcess> {
  const workers = platform.workersOf(queue);
  const runs = (worker: PlatformProcess) => platform.metric(worker, "queue_worker_runs_total");
  const before = await Promise.all(workers.map(runs));
  return eventually(
    async () => {
      const now = await Promise.all(workers.map(runs));
      return workers.find((_, index) => (now[index] ?? 0) > (before[index] ?? 0));
    },
    { every: 20, what: "the queue to move" },
  );
}

export const runsNow = (platform: Platform, holder: PlatformProcess) => () =>
  platform.metric(holder, "queue_worker_function_invocation_inflight").then((inFlight) => inFlight > 0);

/** S13: a call begins only when the one before it is over, however often that one has to run. */
export function expectNoneOvertook(runs: readonly Run[], ids: readonly string[]): void {
  const order = runs.map(({ id }) => ids.indexOf(id)).filter((index) => index >= 0);
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  expect(new Set(order).size).toBe(ids.length);
}
