import { afterEach, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { openFaultBench, type FaultBench } from "../support/fault-bench.ts";
import { figure, inWords } from "../support/figure.ts";
import { openFunctionServer } from "../support/function-server.ts";
import type { Run } from "../support/ledger.ts";
import { notAccepted } from "../support/load.ts";
import { preciseNow } from "../support/precise-now.ts";

/** Longer than a busy machine may stop a worker: a lease that lapses is a further extra run. */
const ackWait = 8_000;
const slots = 16;
/** Longest from the end of a run at the function to its record, on a shared machine; milliseconds. */
const unrecorded = 2 * ackWait;
/** Longest from a worker's death to the start of a run it had requested by then, on a shared machine; milliseconds. */
const inSocket = 500;
/** Callbacks that one worker sends to one host at once. */
const callbackSlots = 4;

let bench: FaultBench | undefined;
afterEach(() => bench?.close());

test("FW1 SIGKILL of workers mid-run: others take over, nothing is lost, only what was in flight runs again", async () => {
  const { platform, ...opened } = (bench = await openFaultBench({ workers: 2, slots, ackWait }));
  const stop = new AbortController();
  const body = (sequence: number): string => (sequence % 6 === 0 ? "1000" : "15");
  const loads = [
    opened.load({ rate: 60, count: 10_000, body, signal: stop.signal }),
    opened.load({
      rate: 8,
      count: 10_000,
      body,
      signal: stop.signal,
      callbackUrl: opened.sink.url,
    }),
  ];
  const kills: number[] = [];
  for (const worker of [...platform.workers, platform.worker]) {
    const ran = await platform.metric(worker, "queue_worker_runs_total");
    await eventually(
      async () =>
        (await platform.metric(worker, "queue_worker_runs_total")) > ran + 20 &&
        (await platform.metric(worker, "queue_worker_function_invocation_inflight")) > 1,
      { what: "the worker to be busy" },
    );
    await worker.kill();
    kills.push(preciseNow());
    await worker.start();
  }
  stop.abort();
  const sent = (await Promise.all(loads)).flatMap((summary) => summary.sent);
  expect(notAccepted(sent)).toEqual([]);

  const { account, counts, violations } = await opened.settle({
    within: 3 * ackWait + 10_000,
    extraRuns: kills.length * slots,
    extraCallbacks: kills.length * callbackSlots,
  });
  expect(violations).toEqual([]);
  expect(counts.accepted).toBeGreaterThan(60);

  const again = [...Map.groupBy(account.runs, (run) => run.id).values()].flatMap((runs) =>
    runs.slice(1).map((run, index) => ({ run, former: runs[index] })),
  );
  expect(again.length).toBeGreaterThan(0);
  const waits: number[] = [];
  for (const { run, former } of again) {
    const killedAt = kills.find((at) => wasInFlight(former, at));
    const times = JSON.stringify({ former, run, kills });
    expect(killedAt, `call ${run.id} ran again though no worker was killed during its run: ${times}`).toBeDefined();
    // S8, times three: this is the fast profile.
    expect(run.at - (killedAt ?? 0)).toBeLessThan(3 * (ackWait + 2_000));
    waits.push(run.at - (killedAt ?? 0));
  }
  const { accepted, extraRuns, extraCallbacks } = counts;
  figure("S1", `0 of ${accepted} accepted calls lost in ${kills.length} kills of a worker`);
  figure("S3", `${extraRuns} extra runs of at most ${kills.length * slots} in flight at the kills`);
  figure("S4", `all callbacks arrived, ${extraCallbacks} twice`);
  figure(
    "S8",
    `started again at most ${inWords(Math.max(...waits))} after the kill, with a lease of ${inWords(ackWait)}`,
  );
});

test("FW13 a call that kills its worker: dead letter crash after its sixth run, others are not held up", async () => {
  const { platform, ...opened } = (bench = await openFaultBench({ ackWait: 1_000 }));
  let runs = 0;
  const deadly = await openFunctionServer(() => {
    runs += 1;
    void platform.worker.kill().then(() => platform.worker.start());
  });
  try {
    await platform.deploy("deadly", { addresses: [deadly.address] });
    const id = await platform.calls.accepted("deadly", { callbackUrl: opened.sink.url, body: "poison" });
    const others = await Promise.all(
      Array.from({ length: 5 }, () => platform.calls.accepted("working", { body: "15" })),
    );

    const record = await platform.calls.ended(id, 45_000);
    expect(record).toMatchObject({ state: "failed", reason: "crash", retries: 0 });
    expect(runs).toBe(6);
    for (const other of others) expect((await platform.calls.ended(other)).state).toBe("done");
    const callback = await opened.sink.waitFor(id);
    expect(callback.headers).toMatchObject({ "x-function-status": "502", "x-retry": "0" });
    const letter = await eventually(() => platform.broker.deadLetter(id), { what: "the dead letter" });
    expect(Buffer.from(letter.body).toString()).toBe("poison");
    expect(letter.headers.get("Weir-Dead-Reason")).toBe("crash");
    const { violations } = await opened.settle({ extraRuns: runs - 1 });
    expect(violations).toEqual([]);
  } finally {
    await deadly.close();
  }
});

/**
 * A run may have ended at the function just before its worker died, without a record, or begin just after, as its
 * request waits in the function's socket.
 */
function wasInFlight(run: Run | undefined, at: number): boolean {
  return run !== undefined && run.at <= at + inSocket && (run.endedAt === undefined || run.endedAt >= at - unrecorded);
}
