import { afterAll, beforeAll, expect, test } from "vitest";

import { openCallbackSink, type CallbackSink } from "../support/callback-sink.ts";
import { eventually } from "../support/eventually.ts";
import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { openLedger, type LedgerWriter } from "../support/ledger.ts";
import { sendLoad } from "../support/load.ts";
import { settleAccount } from "../support/platform-account.ts";
import { openPlatform, type Platform } from "../support/platform.ts";
import { recordRuns } from "../support/record-runs.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";

const ackWait = 4_000;
/** Callbacks that one worker sends to one host at once. */
const callbackSlots = 4;

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
  platform = await openPlatform({ workers: 2, slots: 16, ackWait });
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

test("the broker killed three times and stopped once under load: 0 lost, 0 extra runs, all reconnect by themselves", async () => {
  const stop = new AbortController();
  const body = (sequence: number): string => (sequence % 10 === 0 ? "1000" : "15");
  const load = { gateway: platform.url, functionName: "working", body, count: 10_000, signal: stop.signal };
  const loads = [
    sendLoad({ ...load, rate: 60, ledger: writer("sender") }),
    sendLoad({ ...load, rate: 8, callbackUrl: sink.url, ledger: writer("calling-back") }),
  ];
  const pids = [platform.gateway, ...platform.workers].map(({ pid }) => pid);
  const outages: number[] = [];
  for (const end of [platform.server.kill, platform.server.kill, platform.server.stop, platform.server.kill]) {
    const runs = working.requests.length;
    await eventually(() => working.requests.length > runs + 40, { within: 8_000, what: "the platform to be busy" });
    await end();
    const away = performance.now();
    await platform.server.restart();
    const back = performance.now();
    outages.push(back - away);
    await eventually(async () => (await platform.calls.queue("working", { body: "15" })).status === 202, {
      within: 5_000,
      what: "the first accepted call",
    });
  }
  stop.abort();
  const sent = (await Promise.all(loads)).flatMap((summary) => summary.sent);
  expect(sent.filter(({ class: answer }) => answer === "accepted").length).toBeGreaterThan(150);
  // Runs may repeat if heartbeats, a third of the lease apart, cannot begin again within the lease.
  for (const outage of outages) expect(outage).toBeLessThan(ackWait / 2);

  const { counts, violations } = await settleAccount(platform, {
    directory: directory.path,
    within: ackWait + 10_000,
    extraRuns: 0,
    extraCallbacks: outages.length * platform.workers.length * callbackSlots,
  });
  expect(violations, JSON.stringify(counts)).toEqual([]);
  expect([platform.gateway, ...platform.workers].map(({ pid }) => pid)).toEqual(pids);
  expect(await platform.metric(platform.gateway, "gateway_nats_reconnect_total")).toBe(outages.length);
  for (const worker of platform.workers) {
    expect(await platform.metric(worker, "queue_worker_nats_reconnect_total")).toBe(outages.length);
    expect(await platform.probe(worker, "/readyz")).toBe(200);
  }
});
