import { setTimeout as pause } from "node:timers/promises";

import { Agent, request } from "undici";
import { afterEach, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { openFaultBench, type FaultBench } from "../support/fault-bench.ts";
import { figure } from "../support/figure.ts";
import { openGatewaysFront, type FrontProxy } from "../support/front-proxy.ts";
import { notAccepted } from "../support/load.ts";
import { preciseNow } from "../support/precise-now.ts";

/** Milliseconds between two synchronous calls of the prober. */
const probeEvery = 50;

let bench: FaultBench | undefined;
let front: FrontProxy | undefined;
afterEach(async () => {
  await front?.[Symbol.asyncDispose]();
  await bench?.close();
});

test("FG3 a restart of every part in turn: no synchronous and no queued call fails", async () => {
  const { platform, ...opened } = (bench = await openFaultBench({
    gateways: 2,
    workers: 2,
    slots: 8,
    ackWait: 4_000,
    gatewayFlags: ["--shutdown-delay", "3s"],
  }));
  const opening = (front = await openGatewaysFront(platform));
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
  const away = preciseNow();
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
