import { afterEach, describe, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { openLedger } from "../support/ledger.ts";
import { sendLoad } from "../support/load.ts";
import { settleAccount } from "../support/platform-account.ts";
import { openPlatform, type Platform } from "../support/platform.ts";
import { recordRuns } from "../support/record-runs.ts";
import { tempDirectory } from "../support/temp-directory.ts";

/** Promised 100 ms from the signal; other tests share the machine. */
const lastPull = 300;

let platform: Platform | undefined;
let server: FunctionServer | undefined;

afterEach(async () => {
  await platform?.close();
  await server?.close();
  platform = undefined;
  server = undefined;
});

describe("SIGTERM of a worker", () => {
  test("takes no more, lets its runs finish, leaves with code 0; the rest is run by the next worker, once each", async () => {
    const opened = (platform = await openPlatform({ slots: 4 }));
    const starts: { readonly id: string; readonly at: number }[] = [];
    const slow = (server = await openFunctionServer((request, response) => {
      starts.push({ id: String(request.headers["x-call-id"]), at: performance.now() });
      setTimeout(() => response.end("whole"), 700);
    }));
    await opened.deploy("slow", { addresses: [slow.address] });
    const ids = await Promise.all(Array.from({ length: 20 }, () => opened.calls.accepted("slow")));
    await eventually(() => starts.length === 8 && slow.open === 4, {
      within: 5_000,
      every: 5,
      what: "the second round of runs",
    });

    const signalled = performance.now();
    const ended = await opened.worker.stop();
    expect(ended.code).toBe(0);
    expect(ended.at - signalled).toBeLessThan(10_000 + 1_000);
    expect(starts.filter(({ at }) => at > signalled + lastPull)).toEqual([]);
    expect(slow.aborted).toBe(0);
    expect(slow.open).toBe(0);
    const before = starts.map(({ id }) => id);
    for (const id of before) expect((await opened.calls.status(id))?.state).toBe("done");

    await opened.worker.start();
    const restarted = performance.now();
    await eventually(() => starts.length > before.length, { within: 2_000, every: 5, what: "the next run" });
    expect((starts[before.length]?.at ?? 0) - restarted).toBeLessThan(3_000);
    for (const id of ids) expect(await opened.calls.ended(id)).toMatchObject({ state: "done", retries: 0 });
    expect(starts.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  });

  test("hands back what cannot finish in time, and another worker goes on with it", async () => {
    const opened = (platform = await openPlatform({ workers: 2, upstreamTimeout: 700, wakeTimeout: 20_000 }));
    const ready = (server = await openFunctionServer());
    await opened.deploy("asleep", { addresses: [] });
    const id = await opened.calls.accepted("asleep");
    await opened.calls.until(id, ["running"]);
    const busy = await eventually(
      async () => {
        for (const worker of opened.workers) {
          if ((await opened.metric(worker, "queue_worker_function_invocation_inflight")) === 1) return worker;
        }
        return undefined;
      },
      { within: 2_000, what: "the worker that holds the call" },
    );

    const signalled = performance.now();
    const ended = await busy.stop();
    expect(ended.at - signalled).toBeLessThan(700 + 1_000);
    const record = await opened.calls.until(id, ["running"], 3_000);
    expect(performance.now() - ended.at).toBeLessThan(2_000);
    expect(record).toMatchObject({
      retries: 0,
      attempts: [{ number: 1, error: "the queue-worker stopped" }, { number: 2 }],
    });

    await opened.deploy("asleep", { addresses: [ready.address] });
    expect(await opened.calls.ended(id)).toMatchObject({ state: "done", retries: 0 });
    expect((await opened.broker.ledger.read(id))?.entry).toMatchObject({ run: 2, lost: 0 });
    expect(ready.requests).toHaveLength(1);
  });

  test("in turn under load: no run is repeated and none is cut", async () => {
    const opened = (platform = await openPlatform({ workers: 2, slots: 8 }));
    await using directory = await tempDirectory("ledger");
    const writer = openLedger(directory.path, "function");
    const sender = openLedger(directory.path, "sender");
    const working = (server = await openFunctionServer(
      recordRuns(writer, (_request, response) => void setTimeout(() => response.end(), 100)),
    ));
    await opened.deploy("working", { addresses: [working.address] });
    const load = sendLoad({ gateway: opened.url, functionName: "working", rate: 60, count: 240, ledger: sender });
    for (const worker of [...opened.workers, ...opened.workers]) {
      expect((await worker.stop()).code).toBe(0);
      await worker.start();
    }
    await load;

    const { counts, violations } = await settleAccount(opened, { directory: directory.path, within: 12_000 });
    expect(violations).toEqual([]);
    expect(counts).toMatchObject({ accepted: 240, extraRuns: 0 });
    expect(working.aborted).toBe(0);
    writer.close();
    sender.close();
  });
});
