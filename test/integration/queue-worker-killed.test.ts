import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { openCallbackSink, type CallbackSink } from "../support/callback-sink.ts";
import { eventually } from "../support/eventually.ts";
import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { openLedger, type LedgerWriter, type Run } from "../support/ledger.ts";
import { sendLoad } from "../support/load.ts";
import { settleAccount } from "../support/platform-account.ts";
import { openPlatform, type Platform } from "../support/platform.ts";
import { recordRuns } from "../support/record-runs.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";

const ackWait = 3_000;
const slots = 16;
/** Longest from the end of a run at the function to its record, on a machine that other tests share; milliseconds. */
const unrecorded = 1_000;
/** Callbacks that one worker sends to one host at once. */
const callbackSlots = 4;

describe("SIGKILL of a worker mid-run", () => {
  let platform: Platform;
  let directory: TempDirectory;
  let sink: CallbackSink;
  let working: FunctionServer;
  const writers: LedgerWriter[] = [];
  const writer = (name: string): LedgerWriter => {
    const opened = openLedger(directory.path, name);
    writers.push(opened);
    return opened;
  };

  beforeAll(async () => {
    directory = await tempDirectory("ledger");
    platform = await openPlatform({ workers: 2, slots, ackWait });
    sink = await openCallbackSink({ ledger: writer("sink") });
    // The body says how many milliseconds a run takes.
    const work = recordRuns(
      writer("function"),
      (_request, response, body) => void setTimeout(() => response.end(body), Number(body)),
    );
    working = await openFunctionServer(work);
    await platform.deploy("working", { addresses: [working.address] });
  });

  afterAll(async () => {
    await platform.close();
    await working.close();
    await sink.close();
    for (const each of writers) each.close();
    await directory.remove();
  });

  test("others take over: nothing is lost, and only what was in flight runs again", async () => {
    const stop = new AbortController();
    const body = (sequence: number): string => (sequence % 6 === 0 ? "1000" : "15");
    const load = { gateway: platform.url, functionName: "working", body, count: 10_000, signal: stop.signal };
    const loads = [
      sendLoad({ ...load, rate: 60, ledger: writer("sender") }),
      sendLoad({ ...load, rate: 8, callbackUrl: sink.url, ledger: writer("calling-back") }),
    ];
    const kills: number[] = [];
    for (const worker of [...platform.workers, platform.worker]) {
      const ran = await platform.metric(worker, "queue_worker_runs_total");
      await eventually(
        async () =>
          (await platform.metric(worker, "queue_worker_runs_total")) > ran + 20 &&
          (await platform.metric(worker, "queue_worker_function_invocation_inflight")) > 1,
        { within: 15_000, what: "the worker to be busy" },
      );
      await worker.kill();
      kills.push(performance.timeOrigin + performance.now());
      await worker.start();
    }
    stop.abort();
    const sent = (await Promise.all(loads)).flatMap((summary) => summary.sent);
    expect(sent.filter(({ class: answer }) => answer !== "accepted")).toEqual([]);

    const { account, counts, violations } = await settleAccount(platform, {
      directory: directory.path,
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
    for (const { run, former } of again) {
      const killedAt = kills.find((at) => wasUnderWay(former, at));
      expect(killedAt, `call ${run.id} ran again though no worker was killed during its run`).toBeDefined();
      expect(run.at - (killedAt ?? 0)).toBeLessThan(3 * (ackWait + 2_000));
    }
  });
});

describe("a call that kills its worker", () => {
  test("is a dead letter after its sixth run, and others are not held up", async () => {
    const platform = await openPlatform({ ackWait: 500 });
    const sink = await openCallbackSink();
    let runs = 0;
    const deadly = await openFunctionServer(() => {
      runs += 1;
      void platform.worker.kill().then(() => platform.worker.start());
    });
    const harmless = await openFunctionServer();
    try {
      await platform.deploy("deadly", { addresses: [deadly.address] });
      await platform.deploy("harmless", { addresses: [harmless.address] });
      const id = await platform.calls.accepted("deadly", { callbackUrl: sink.url, body: "poison" });
      const others = await Promise.all(Array.from({ length: 5 }, () => platform.calls.accepted("harmless")));

      const record = await platform.calls.ended(id, 45_000);
      expect(record).toMatchObject({ state: "failed", reason: "crash", retries: 0 });
      expect(runs).toBe(6);
      for (const other of others) expect((await platform.calls.ended(other)).state).toBe("done");
      const callback = await sink.waitFor(id);
      expect(callback.headers).toMatchObject({ "x-function-status": "502", "x-retry": "0" });
      const letter = await eventually(() => platform.broker.deadLetter(id), { within: 3_000, what: "the dead letter" });
      expect(Buffer.from(letter.body).toString()).toBe("poison");
      expect(letter.headers.get("Weir-Dead-Reason")).toBe("crash");
      await eventually(async () => (await platform.broker.calls()).messages === 0, {
        within: 5_000,
        what: "the queue to be empty",
      });
    } finally {
      await platform.close();
      await deadly.close();
      await harmless.close();
      await sink.close();
    }
  });
});

/** A run may have ended at the function just before its worker died without having written that down. */
function wasUnderWay(run: Run | undefined, at: number): boolean {
  return run !== undefined && run.at <= at && (run.endedAt === undefined || run.endedAt >= at - unrecorded);
}
