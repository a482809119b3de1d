import { randomUUID } from "node:crypto";

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { openLedger, type LedgerWriter } from "../support/ledger.ts";
import { sendLoad } from "../support/load.ts";
import { settleAccount } from "../support/platform-account.ts";
import { fastProfile } from "../support/platform-flags.ts";
import { openPlatform, type Platform } from "../support/platform.ts";
import { openDescriptors, residentBytes } from "../support/process-facts.ts";
import { openRawClient, type RawClient } from "../support/raw-client.ts";
import { recordRuns } from "../support/record-runs.ts";
import { tempDirectory, type TempDirectory } from "../support/temp-directory.ts";

/** Clients and replicas that go away during a call (`faults.md` §5); calls queued meanwhile are not affected. */
let platform: Platform;
let directory: TempDirectory;
let sender: LedgerWriter;
let runs: LedgerWriter;
let working: FunctionServer;
let queued: ReturnType<typeof sendLoad>;
let loadEnded: AbortController;
/** Open descriptors of the gateway before the test. */
let descriptors = 0;

/** The promised times hold for a dedicated machine; on this shared one they count three times. */
const shared = 3;

beforeAll(async () => {
  platform = await openPlatform({ slots: 8 });
});
afterAll(async () => {
  await platform?.close();
});
beforeEach(async () => {
  directory = await tempDirectory("ledger");
  sender = openLedger(directory.path, "sender");
  runs = openLedger(directory.path, "runs");
  working = await openFunctionServer(recordRuns(runs, (_request, response, body) => response.end(body)));
  await platform.deploy("working", { addresses: [working.address] });
  descriptors = openDescriptors(platform.gateway.pid);
  loadEnded = new AbortController();
  queued = sendLoad({
    gateway: platform.url,
    functionName: "working",
    rate: 10,
    count: 10_000,
    ledger: sender,
    signal: loadEnded.signal,
  });
});
afterEach(async () => {
  loadEnded.abort();
  await queued;
  await working.close();
  sender.close();
  runs.close();
  await directory.remove();
});

async function descriptorsBack(): Promise<void> {
  loadEnded.abort();
  await queued;
  await eventually(() => openDescriptors(platform.gateway.pid) <= descriptors + 5, {
    what: "the gateway's descriptors to be back",
  });
}

async function invariants() {
  loadEnded.abort();
  await queued;
  const settled = await settleAccount(platform, {
    directory: directory.path,
    within: shared * (fastProfile.ackWait + 10_000),
  });
  expect(settled.violations).toEqual([]);
  expect(settled.counts.accepted).toBeGreaterThan(0);
  return settled;
}

test("FG4: a client aborts its upload half-way × 1000: no record, no call, no run, memory flat", async () => {
  const whole = 1_048_576;
  const half = Buffer.alloc(whole / 2);
  const ids: string[] = [];
  const cut = async (index: number): Promise<void> => {
    const id = randomUUID();
    ids.push(id);
    const client = await openRawClient(platform.port);
    const length = index % 2 === 0 ? `Content-Length: ${whole}` : "Transfer-Encoding: chunked";
    client.send(`POST /async-function/working HTTP/1.1\r\nHost: g\r\nX-Call-Id: ${id}\r\n${length}\r\n\r\n`);
    if (index % 2 !== 0) client.send(`${whole.toString(16)}\r\n`);
    client.send(half);
    await new Promise((resolve) => client.socket.write("", resolve));
    if (index % 3 === 0) client.socket.resetAndDestroy();
    else if (index % 3 === 1) client.socket.end(() => client.close());
    else client.close();
  };
  const cutMany = async (count: number): Promise<void> => {
    for (let done = 0; done < count; done += 50)
      await Promise.all(Array.from({ length: 50 }, (_, index) => cut(done + index)));
  };
  await cutMany(300);
  const before = residentBytes(platform.gateway.pid);
  await cutMany(700);
  // 350 MiB have arrived by now.
  expect(residentBytes(platform.gateway.pid) - before).toBeLessThan(100 * 1_048_576);

  await descriptorsBack();
  const { account } = await invariants();
  const ran = new Set(account.runs.map(({ id }) => id));
  for (const id of ids) {
    expect(ran.has(id)).toBe(false);
    expect(await platform.broker.ledger.read(id)).toBeUndefined();
  }
});

test("FG5: a client leaves a waiting synchronous call × 200: the function's request is aborted within 1 s", async () => {
  const hanging = await openFunctionServer(() => undefined);
  await platform.deploy("hanging", { addresses: [hanging.address] });
  const clients: RawClient[] = await Promise.all(Array.from({ length: 200 }, () => openRawClient(platform.port)));
  clients.forEach((client, index) => {
    const body = index % 2 === 0 ? "Content-Length: 2\r\n\r\nhi" : "\r\n";
    client.send(`${index % 2 === 0 ? "POST" : "GET"} /function/hanging HTTP/1.1\r\nHost: g\r\n${body}`);
  });
  await eventually(() => hanging.open === clients.length, { what: "all calls to wait" });

  clients.forEach((client, index) => (index % 2 === 0 ? client.socket.resetAndDestroy() : client.close()));
  await eventually(() => hanging.open === 0, { within: shared * 1_000, what: "all requests to be aborted" });
  await descriptorsBack();
  expect(hanging.aborted).toBe(200);
  await invariants();
  await platform.undeploy("hanging");
  await hanging.close();
});

test("FP6: a replica killed mid-call: synchronous calls in flight are 502, queued ones are retried", async () => {
  const open = () =>
    openFunctionServer(recordRuns(runs, (_request, response) => void setTimeout(() => response.end("done"), 50)));
  const [doomed, other] = [await open(), await open()];
  await platform.deploy("replicated", { addresses: [doomed.address, other.address] });
  const stop = new AbortController();
  let completed = 0;
  /** Calls one after the other; returns the statuses that were not 200. */
  const callInLoop = async (): Promise<readonly number[]> => {
    const failed: number[] = [];
    for (; !stop.signal.aborted; completed += 1) {
      const { status } = await platform.calls.send("GET", "/function/replicated");
      if (status !== 200) failed.push(status);
    }
    return failed;
  };
  const loops = Array.from({ length: 20 }, callInLoop);
  const load = sendLoad({
    gateway: platform.url,
    functionName: "replicated",
    rate: 10,
    count: 10_000,
    ledger: sender,
    signal: stop.signal,
  });
  await eventually(() => doomed.open > 4 && doomed.requests.length > 50, { what: "calls in flight" });

  await doomed.close();
  const later = completed + 200;
  // The gateway does not know yet that the replica is gone: refused calls go to the other one.
  await eventually(() => completed > later, { what: "calls that continue" });
  await platform.deploy("replicated", { addresses: [other.address] });
  stop.abort();
  // Only calls in flight at the kill may fail: at most one of each loop.
  for (const failed of await Promise.all(loops)) expect([[], [502]]).toContainEqual(failed);
  const accepted = (await load).sent.filter(({ class: kind }) => kind === "accepted");
  expect(accepted.length).toBeGreaterThan(0);

  await invariants();
  for (const { id } of accepted) expect((await platform.calls.status(id))?.state).toBe("done");
  await platform.undeploy("replicated");
  await other.close();
});
