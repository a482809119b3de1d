import { randomUUID } from "node:crypto";

import { afterAll, beforeAll, expect, test } from "vitest";

import { openChaosProxy, type ChaosProxy } from "../support/chaos-proxy.ts";
import { eventually } from "../support/eventually.ts";
import { openFaultBench, type FaultBench } from "../support/fault-bench.ts";
import type { FunctionServer } from "../support/function-server.ts";
import type { Platform } from "../support/platform.ts";

/** Long: 200 ms of latency each way slow down heartbeats, and a call whose lease is lost is run again. */
const ackWait = 8_000;

let bench: FaultBench;
let platform: Platform;
let working: FunctionServer;
let toGateway: ChaosProxy;
let toWorkers: ChaosProxy;

beforeAll(async () => {
  bench = await openFaultBench({
    slots: 8,
    ackWait,
    gatewayThrough: async (port) => (toGateway = await openChaosProxy(port)).port,
    workersThrough: async (port) => (toWorkers = await openChaosProxy(port)).port,
  });
  ({ platform, working } = bench);
});

afterAll(async () => {
  await bench?.close();
  await toGateway?.[Symbol.asyncDispose]();
  await toWorkers?.[Symbol.asyncDispose]();
});

test("a function deployed while a worker's connection was broken is run, not given up as unknown", async () => {
  for (let round = 0; round < 4; round += 1) {
    toWorkers.reset();
    await platform.deploy(`fresh-${round}`, { addresses: [working.address] });
    const id = await platform.calls.accepted(`fresh-${round}`, { body: "15" });

    expect(await platform.calls.ended(id)).toMatchObject({ state: "done" });
  }
});

test("FB6 resets, small slices, latency and a slow line: slower, but nothing is lost and nothing runs twice", async () => {
  const phases = [
    { fault: { latency: 100 }, rate: 30, count: 60 },
    { fault: { slice: 1 }, rate: 4, count: 12 },
    { fault: { rate: 65_536, jitter: 20 }, rate: 6, count: 18 },
  ];
  for (const { fault, rate, count } of phases) {
    for (const proxy of [toGateway, toWorkers]) {
      proxy.up(fault);
      proxy.down(fault);
    }
    const before = working.requests.length;
    const load = bench.load({ rate, count });
    for (const [proxy, share] of [
      [toWorkers, 0.3],
      [toGateway, 0.6],
    ] as const) {
      await eventually(() => working.requests.length > before + share * count, {
        what: "the platform to continue",
      });
      proxy.reset();
    }
    await load;
    for (const proxy of [toGateway, toWorkers]) proxy.heal();
  }

  const { counts, violations } = await bench.settle();
  expect(violations, JSON.stringify(counts)).toEqual([]);
  expect(counts.accepted).toBeGreaterThan(60);
});

test("FB5 a black hole between gateway and broker: 503 within 3 s, not ready, and the same id sent again runs once", async () => {
  for (const proxy of [toGateway, toWorkers]) proxy.heal();
  await eventually(async () => (await platform.calls.queue("working", { body: "15" })).status === 202, {
    what: "the gateway to be connected",
  });
  toGateway.up({ blackHole: true });
  toGateway.down({ blackHole: true });
  const id = randomUUID();
  const response = await platform.calls.queue("working", { id, body: "15" });
  expect(response.status).toBe(503);
  // S10, times three: this is the fast profile.
  expect(response.took).toBeLessThan(3 * 3_000);
  expect(response.headers.get("x-call-queued")).toBe("unknown");
  await eventually(async () => (await platform.probe(platform.gateway, "/readyz")) === 503, {
    what: "the gateway to be unready",
  });

  toGateway.heal();
  toGateway.reset();
  await eventually(async () => (await platform.calls.queue("working", { id, body: "15" })).status === 202, {
    what: "the call to be accepted",
  });
  expect((await platform.calls.ended(id)).state).toBe("done");
  expect(working.requests.filter((request) => request.headers["x-call-id"] === id)).toHaveLength(1);
});

test("afterwards I1 to I10 hold", async () => {
  const { violations } = await bench.settle();
  expect(violations).toEqual([]);
});
