import { setTimeout as pause } from "node:timers/promises";

import { Agent, request } from "undici";
import { afterEach, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { openFaultBench, type FaultBench } from "../support/fault-bench.ts";
import { figure, inWords } from "../support/figure.ts";
import { openFrontProxy, type FrontProxy } from "../support/front-proxy.ts";
import type { Sent } from "../support/ledger.ts";
import { notEmpty } from "../support/not-empty.ts";
import type { Platform } from "../support/platform.ts";
import { notAccepted } from "../support/load.ts";

/** Milliseconds between two synchronous calls of the prober. */
const probeEvery = 50;

let bench: FaultBench | undefined;
let front: FrontProxy | undefined;
afterEach(async () => {
  await front?.[Symbol.asyncDispose]();
  await bench?.close();
});

const openFront = (platform: Platform) =>
  openFrontProxy(
    platform.gateways.map((gateway) => ({
      port: Number(gateway.ready["port"]),
      isReady: async () => (await platform.probe(gateway, "/readyz")) === 200,
    })),
  );

test("FG1 SIGTERM of a gateway under load, behind a proxy: unready at once, replies to the end, no failure", async () => {
  const { platform, working, ...opened } = (bench = await openFaultBench({
    gateways: 2,
    slots: 16,
    gatewayFlags: ["--shutdown-delay", "3s"],
  }));
  front = await openFront(platform);
  const stop = new AbortController();
  const load = opened.load({
    gateway: front.url,
    freshConnections: true,
    // A machine with other load could not serve more in time.
    rate: 30,
    count: 10_000,
    signal: stop.signal,
  });
  const drains: number[] = [];
  for (const gateway of platform.gateways) {
    const runs = working.requests.length;
    await eventually(() => working.requests.length > runs + 30, { what: "the platform to be busy" });
    const signalled = performance.now();
    const stopping = gateway.stop();
    await eventually(async () => (await platform.probe(gateway, "/readyz")) === 503, {
      every: 5,
      what: "the gateway to be unready",
    });
    const during = await request(`http://127.0.0.1:${String(gateway.ready["port"])}/async-function/working`, {
      method: "POST",
      body: "1",
      dispatcher: new Agent({ pipelining: 0 }),
    });
    await during.body.dump();
    expect([during.statusCode, during.headers["connection"]]).toEqual([202, "close"]);
    const { code, at } = await stopping;
    expect(code).toBe(0);
    drains.push(at - signalled);
    await gateway.start();
  }
  stop.abort();
  const { sent } = await load;
  expect(notAccepted(sent)).toEqual([]);
  figure("S15", `0 of ${sent.length} calls failed while both gateways were restarted behind a load balancer`);
  figure("S16", `a gateway ended at most ${inWords(Math.max(...drains))} after SIGTERM, the delay of 3 s in it`);
  // Times three: this is the fast profile.
  expect(Math.max(...drains)).toBeLessThan(3 * 5_000);
  const { violations } = await opened.settle();
  expect(violations).toEqual([]);
});

test("SIGKILL of a gateway: what was accepted runs once, and what is unknown runs once when it is sent again", async () => {
  const { platform, working, ...opened } = (bench = await openFaultBench({ slots: 16 }));
  const sent: Sent[] = [];
  const unknownCalls = () => sent.filter(({ class: kind }) => kind === "unknown");
  // A gateway that is killed between two calls leaves none unknown.
  for (let kill = 0; kill < 3 || (kill < 10 && unknownCalls().length === 0); kill += 1) {
    const runs = working.requests.length;
    const load = opened.load({ rate: 200, count: 100, body: () => "1" });
    await eventually(() => working.requests.length > runs + 20, {
      every: 1,
      what: "the platform to be busy",
    });
    await platform.gateway.kill();
    sent.push(...(await load).sent);
    await platform.gateway.start();
  }
  const unknown = notEmpty(unknownCalls(), "call whose response was lost");
  for (const { id } of unknown) expect(await platform.calls.accepted("working", { id, body: "1" })).toBe(id);
  for (const { id } of unknown) expect((await platform.calls.ended(id)).state).toBe("done");

  const { violations } = await opened.settle();
  expect(violations).toEqual([]);
  const runs = Map.groupBy(working.requests, (seen) => seen.headers["x-call-id"]);
  for (const { id } of unknown) expect(runs.get(id)).toHaveLength(1);
});

test("FG3 a restart of every part in turn: no synchronous and no queued call fails", async () => {
  const { platform, ...opened } = (bench = await openFaultBench({
    gateways: 2,
    workers: 2,
    slots: 8,
    ackWait: 4_000,
    gatewayFlags: ["--shutdown-delay", "3s"],
  }));
  const opening = (front = await openFront(platform));
  const stop = new AbortController();
  const queued = opened.load({
    gateway: opening.url,
    freshConnections: true,
    rate: 30,
    count: 10_000,
    // On a busy machine more would wait for each other for longer than a call may take.
    maxInFlight: 200,
    signal: stop.signal,
  });
  const probe = async (): Promise<number[]> => {
    const agent = new Agent({ connections: 4, pipelining: 0 });
    const statuses: number[] = [];
    while (!stop.signal.aborted) {
      const reply = await request(`${opening.url}/function/working`, { method: "POST", body: "5", dispatcher: agent });
      await reply.body.dump();
      statuses.push(reply.statusCode);
      await pause(probeEvery);
    }
    await agent.destroy();
    return statuses;
  };
  const probing = probe();
  for (const part of [...platform.workers, ...platform.gateways, platform.doctor]) {
    expect((await part.stop()).code).toBe(0);
    await part.start();
  }
  // The only broker: calls wait for it for a second, then are refused; a call that it was just storing is unknown.
  const away = performance.timeOrigin + performance.now();
  await platform.server.restart();
  await eventually(async () => (await platform.calls.queue("working", { body: "15" })).status === 202, {
    what: "a call after the broker's restart",
  });
  stop.abort();
  const probed = await probing;
  expect(new Set(probed)).toEqual(new Set([200]));
  const { sent } = await queued;
  const failed = sent.filter(({ class: kind }) => kind !== "accepted");
  expect(notAccepted(failed.filter((each) => each.status !== 503 || each.answeredAt < away))).toEqual([]);
  const queuedCalls = `${sent.length} queued, ${failed.length} of them answered 503 by the only broker's restart`;
  figure("S15", `${probed.length} synchronous calls, 0 failed, and ${queuedCalls}, while every part was restarted`);
  const { violations } = await opened.settle();
  expect(violations).toEqual([]);
});
