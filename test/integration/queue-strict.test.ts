import { afterEach, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { openFaultBench, type FaultBench } from "../support/fault-bench.ts";
import { figure } from "../support/figure.ts";
import type { Run } from "../support/ledger.ts";
import type { PlatformProcess } from "../support/platform-process.ts";
import type { Platform } from "../support/platform.ts";

/** A worker that gets no processor for so long loses its call: that would be an extra run that nothing here caused. */
const ackWait = 3_000;
const queue = "ordered";
/** Milliseconds that a run takes. */
const runTime = 60;
const failures = 2;
/** One call in so many fails twice before it succeeds. */
const shakyEvery = 6;
/** Callbacks that one worker sends to one host at once. */
const callbackSlots = 4;

let bench: FaultBench | undefined;
afterEach(() => bench?.close());

/** A bench whose function `ordered` is served by two workers of a strict queue. */
async function open(): Promise<FaultBench> {
  const opened = (bench = await openFaultBench({
    ackWait,
    retryMinWait: 300,
    retryMaxWait: 600,
    queues: { [queue]: { workers: 2, entry: { strict: true } } },
  }));
  const failed = new Map<string, number>();
  await opened.open(
    "ordered",
    (request, response) => {
      const id = String(request.headers["x-call-id"]);
      const before = failed.get(id) ?? 0;
      const fails = request.url === "/shaky" && before < failures;
      if (fails) failed.set(id, before + 1);
      setTimeout(() => response.writeHead(fails ? 503 : 200).end(), runTime);
    },
    { annotations: { "com.service.queue": queue } },
  );
  return opened;
}

const isShaky = (_id: string, index: number): boolean => index % shakyEvery === 1;

/** Queues so many calls, one after the other; returns their ids in the order of acceptance. */
async function queueCalls({ platform, sink }: FaultBench, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const tail = isShaky("", index) ? "/shaky" : "/";
    ids.push(await platform.calls.accepted("ordered", { tail, callbackUrl: sink.url }));
  }
  return ids;
}

/** The worker of the queue that runs its calls: no other one's count grows. */
async function holderOf(platform: Platform): Promise<PlatformProcess> {
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

const runsNow = (platform: Platform, holder: PlatformProcess) => () =>
  platform.metric(holder, "queue_worker_function_invocation_inflight").then((inFlight) => inFlight > 0);

/** S13: a call begins only when the one before it is over, however often that one has to run. */
function expectNoneOvertook(runs: readonly Run[], ids: readonly string[]): void {
  const order = runs.map(({ id }) => ids.indexOf(id)).filter((index) => index >= 0);
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  expect(new Set(order).size).toBe(ids.length);
}

test("FW18 the worker that holds a strict queue killed three times, twice in a run, once while its call waits: nothing overtakes", async () => {
  const opened = await open();
  const { platform } = opened;
  const ids = await queueCalls(opened, 30);
  const shaky = ids.filter(isShaky);
  const waits = async (): Promise<boolean> => {
    const records = await Promise.all(shaky.map((id) => platform.calls.status(id)));
    return records.some((record) => record?.state === "waiting");
  };
  for (const when of ["run", "wait", "run"]) {
    const holder = await holderOf(platform);
    const moment = when === "run" ? runsNow(platform, holder) : waits;
    await eventually(moment, { every: 5, what: `the holder's ${when}` });
    await holder.kill();
    await holder.start();
  }
  for (const id of ids) expect(await platform.calls.ended(id, 30_000)).toMatchObject({ state: "done" });

  const { account, violations } = await opened.settle({
    extraRuns: 3,
    extraCallbacks: 3 * callbackSlots,
    inOrder: true,
  });
  expect(violations).toEqual([]);
  expectNoneOvertook(account.runs, ids);
  figure(
    "S13",
    `strict: 0 inversions in ${account.runs.length} runs of ${ids.length} calls, the holder killed three times`,
  );
  for (const id of shaky) expect(account.runs.filter((run) => run.id === id).length).toBeGreaterThan(failures);
});

test("a paused worker that holds a strict queue is replaced, and does not interfere when resumed", async () => {
  const opened = await open();
  const { platform } = opened;
  const ids = await queueCalls(opened, 15);
  const holder = await holderOf(platform);
  await eventually(runsNow(platform, holder), { every: 5, what: "the holder's run" });
  holder.pause();
  for (const id of ids) expect(await platform.calls.ended(id, 30_000)).toMatchObject({ state: "done" });
  holder.resume();
  ids.push(...(await queueCalls(opened, 1)));
  for (const id of ids) expect(await platform.calls.ended(id, 20_000)).toMatchObject({ state: "done" });

  const { account, violations } = await opened.settle({ extraRuns: 1, extraCallbacks: callbackSlots, inOrder: true });
  expect(violations).toEqual([]);
  expectNoneOvertook(account.runs, ids);
});
