import { afterEach, expect, test } from "vitest";

import { openChaosProxy, type ChaosProxy } from "../support/chaos-proxy.ts";
import { eventually } from "../support/eventually.ts";
import { openFunctionServer, type FunctionServer } from "../support/function-server.ts";
import { openPlatform, type Platform } from "../support/platform.ts";
import { steadyCalls } from "../support/steady-calls.ts";

let platform: Platform | undefined;
let toGateway: ChaosProxy;
let working: FunctionServer;
afterEach(async () => {
  await platform?.close();
  await toGateway?.close();
  await working?.close();
});

test("FP9 a gateway that serves but cannot report keeps replicas, for as long as that lasts", async () => {
  working = await openFunctionServer();
  const { url, broker, ...opened } = (platform = await openPlatform({
    gatewayThrough: async (port) => (toGateway = await openChaosProxy(port)).port,
  }));
  await opened.add("autoscaler").start();
  /** Desired replicas in order, without repetitions. */
  const desired: number[] = [];
  const endWatch = await broker.functions.watch({
    set: ({ replicas }) => void (desired.at(-1) !== replicas && desired.push(replicas)),
    removed: () => {},
    synced: () => {},
  });
  const replicasAre = (replicas: number) =>
    eventually(() => desired.at(-1) === replicas, { every: 20, what: `${replicas} replicas` });
  const labels = { "com.service.scale.zero": "true", "com.service.scale.zero-duration": "10s" };
  await opened.deploy("echo", { addresses: [working.address], labels });
  await replicasAre(1);
  toGateway.up({ blackHole: true });
  toGateway.down({ blackHole: true });
  const enough = new AbortController();
  const calls = steadyCalls({ urls: [`${url}/function/echo`], rate: 5, signal: enough.signal });
  // Longer than the idle time.
  await eventually(() => working.requests.length >= 65, { what: "65 calls" });
  expect(desired).toEqual([1]);
  enough.abort();
  expect((await calls).failures).toEqual([]);
  toGateway.heal();
  toGateway.reset();
  await replicasAre(0);
  endWatch();
});
