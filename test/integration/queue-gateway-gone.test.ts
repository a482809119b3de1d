import { Agent, request } from "undici";
import { afterEach, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { openFaultBench, type FaultBench } from "../support/fault-bench.ts";
import { figure, inWords } from "../support/figure.ts";
import { openGatewaysFront, type FrontProxy } from "../support/front-proxy.ts";
import type { Sent } from "../support/ledger.ts";
import { notEmpty } from "../support/not-empty.ts";
import { notAccepted } from "../support/load.ts";

let bench: FaultBench | undefined;
let front: FrontProxy | undefined;
afterEach(async () => {
  await front?.[Symbol.asyncDispose]();
  await bench?.close();
});

test("FG1 SIGTERM of a gateway under load, behind a proxy: unready at once, replies to the end, no failure", async () => {
  const { platform, working, ...opened } = (bench = await openFaultBench({
    gateways: 2,
    slots: 16,
    gatewayFlags: ["--shutdown-delay", "3s"],
  }));
  front = await openGatewaysFront(platform);
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
