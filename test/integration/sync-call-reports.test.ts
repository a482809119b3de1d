import { describe, expect, test } from "vitest";

import type { EndedSyncCall } from "../../runtime/core/history/reports/sync-call-ring.ts";
import type { SyncCallKind } from "../../runtime/core/history/reports/choose-sync-call.ts";
import { createCallObserver } from "../../runtime/gateway/calls/call-observer.ts";
import { keepSyncCalls } from "../../runtime/gateway/calls/sync/keep-sync-calls.ts";
import { InvocationCounts } from "../../runtime/process/metrics/invocation-counts.ts";
import { RouteCounts } from "../../runtime/gateway/metrics/route-counts.ts";
import { eventually } from "../support/eventually.ts";
import { rawRequest } from "../support/raw-client.ts";
import { freeAddress, syncFixture } from "../support/sync-fixture.ts";
import type { SyncGatewayOptions } from "../support/sync-gateway.ts";

type Kept = EndedSyncCall & { readonly kind: SyncCallKind };

describe("synchronous calls for the history", () => {
  const { open, serve } = syncFixture();

  /** A gateway whose kept calls are in `kept`; of calls that ended well it keeps this share. */
  async function gatewayThatKeeps(sample = 0, options: SyncGatewayOptions = {}) {
    const kept: Kept[] = [];
    /** Functions whose calls waited, in order. */
    const cold: string[] = [];
    const counts = new InvocationCounts((key) => ({ add: (_s, _d, isCold) => isCold && cold.push(key) }));
    const keep = keepSyncCalls({ add: (kind, call) => kept.push({ kind, ...call }) }, sample);
    const observer = createCallObserver({
      path: "/function/:name",
      counts: new RouteCounts(),
      accessLog: undefined,
      keep,
      clientOf: () => "",
    });
    const gateway = await open({ ...options, invoker: { ...options.invoker, observer, counts } });
    const call = async (target: string, head = ""): Promise<number> => {
      const request = `GET /function/${target} HTTP/1.1\r\nHost: g\r\n${head}\r\n`;
      return (await rawRequest(gateway.port, request)).status;
    };
    const untilKept = (count: number) => eventually(() => kept.length === count, { what: `${count} kept calls` });
    return { gateway, kept, cold, call, untilKept };
  }

  test("a failed call is kept, with where it went; one that ended well is not", async () => {
    const fn = await serve((request, response) =>
      response.writeHead(request.url?.startsWith("/fail") === true ? 500 : 200).end(),
    );
    const { gateway, kept, cold, call, untilKept } = await gatewayThatKeeps();
    gateway.deploy("hello", { addresses: [fn.address] });
    const replica = gateway.table.findKey("hello")?.replicas[0];
    if (replica === undefined) throw new Error("there is no replica");
    replica.name = "hello-a";
    const id = "7f3a0b1c-0000-4000-8000-00000000000a";
    const before = Date.now();
    expect(await call("hello")).toBe(200);
    expect(await call("hello/fail?secret=1", `X-Call-Id: ${id}\r\n`)).toBe(500);
    await untilKept(1);
    const [found] = kept;
    if (found === undefined) throw new Error("no call was kept");
    const { startedAt, duration, ...facts } = found;
    expect(facts).toEqual({
      kind: "noted",
      id,
      ref: { name: "hello", namespace: "functions" },
      method: "GET",
      status: 500,
      replica: "hello-a",
      coldStart: undefined,
    });
    expect(startedAt).toBeGreaterThanOrEqual(before - 1);
    expect(startedAt + duration).toBeLessThanOrEqual(Date.now());
    expect(duration).toBeGreaterThan(0);
    expect(cold).toEqual([]);
  });

  test("the gateway's own errors are kept, whether the call began or was refused", async () => {
    const { gateway, kept, call, untilKept } = await gatewayThatKeeps();
    const gone = await freeAddress();
    gateway.deploy("gone", { addresses: [gone] });
    gateway.deploy("full", { addresses: [gone], annotations: { "com.service.concurrency.max": "1" } });
    const replica = gateway.table.findKey("full")?.replicas[0];
    if (replica === undefined) throw new Error("there is no replica");
    replica.inFlight = 1;
    gateway.deploy("unusable", { addresses: [gone], annotations: { "com.service.history.sync": "some" } });
    expect([await call("gone"), await call("full"), await call("unusable")]).toEqual([502, 429, 400]);
    await untilKept(3);
    expect(kept.map(({ kind, ref, status, replica: where }) => [kind, ref.name, status, where])).toEqual([
      ["noted", "gone", 502, gone],
      ["noted", "full", 429, undefined],
      ["noted", "unusable", 400, undefined],
    ]);
  });

  test("what names no function leaves no trace", async () => {
    const { gateway, kept, call, untilKept } = await gatewayThatKeeps(1);
    gateway.deploy("known", { addresses: [await freeAddress()] });
    expect([await call("unknown"), await call("-"), await call("known")]).toEqual([404, 404, 502]);
    await untilKept(1);
    expect(kept).toMatchObject([{ ref: { name: "known" } }]);
  });

  test("a call that waited for a replica is kept and counted as a cold start, also if none came", async () => {
    const fn = await serve();
    const { gateway, kept, cold, call, untilKept } = await gatewayThatKeeps(0, { wakeTimeout: 1_500 });
    gateway.deploy("asleep", { replicas: 0 });
    gateway.table.onWanted(({ key, wanted }) => {
      if (key === "asleep.functions" && wanted.replicas > 0) gateway.setReplicas("asleep", [fn.address]);
    });
    gateway.deploy("never");
    expect(await call("asleep")).toBe(200);
    expect(await call("asleep")).toBe(200);
    expect(await call("never")).toBe(503);
    await untilKept(2);
    const [woken, failed] = kept;
    expect(woken).toMatchObject({ kind: "noted", status: 200, replica: fn.address });
    expect(woken?.coldStart).toBeGreaterThanOrEqual(0);
    expect(woken?.coldStart).toBeLessThanOrEqual(woken?.duration ?? 0);
    expect(failed).toMatchObject({ kind: "noted", status: 503, replica: undefined });
    // About the whole of `wakeTimeout`: a timer counts from some moment before or after the clock is read.
    expect(failed?.coldStart).toBeGreaterThan(1_400);
    expect(cold).toEqual(["asleep.functions", "never.functions"]);
  });

  test("a function may keep each of its calls, or none", async () => {
    const fn = await serve((_request, response) => response.writeHead(503).end());
    const { gateway, kept, call, untilKept } = await gatewayThatKeeps(1);
    const addresses = [fn.address];
    gateway.deploy("each", { addresses, annotations: { "com.service.history.sync": "all" } });
    gateway.deploy("none", { addresses, annotations: { "com.openfaas.history.sync": "none" } });
    gateway.deploy("other", { addresses });
    for (const name of ["each", "none", "other"]) expect(await call(name)).toBe(503);
    await untilKept(2);
    expect(kept.map(({ kind, ref }) => [kind, ref.name])).toEqual([
      ["each", "each"],
      ["noted", "other"],
    ]);
  });

  test("of others a sample is kept, but no run of a queue-worker, which has a record", async () => {
    const fn = await serve();
    const { gateway, kept, call, untilKept } = await gatewayThatKeeps(1, {
      server: { isInvokeKey: (key) => key === "k" },
    });
    gateway.deploy("hello", { addresses: [fn.address] });
    expect(await call("hello", "Weir-Invoke: k\r\n")).toBe(200);
    expect(await call("hello")).toBe(200);
    await untilKept(1);
    expect(kept).toMatchObject([{ kind: "sampled", status: 200, replica: fn.address }]);
  });
});
