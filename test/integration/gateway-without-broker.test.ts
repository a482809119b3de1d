import { Registry } from "prom-client";
import { expect, test } from "vitest";

import { HttpUpstream } from "../../runtime/adapters/http/upstream/http-upstream.ts";
import { MemoryEndpoints } from "../support/memory/memory-endpoints.ts";
import { MemoryFunctionStore } from "../support/memory/memory-function-store.ts";
import { MemoryNamespaceStore } from "../support/memory/memory-namespace-store.ts";
import { NatsLink } from "../../runtime/adapters/nats/link/nats-link.ts";
import { doctorAdapters, gatewayBroker } from "../../runtime/adapters/nats/open-nats.ts";
import { natsUser } from "../../runtime/api/broker/nats-users.ts";
import { startSettings } from "../../runtime/settings/start-settings.ts";
import { release } from "../../runtime/api/version.ts";
import { desireFunction } from "../../runtime/core/functions/desired-function.ts";
import { platformInfo } from "../../runtime/core/platform-info.ts";
import { buildGateway } from "../../runtime/gateway/build-gateway.ts";
import type { BuiltGateway } from "../../runtime/gateway/gateway-parts.ts";
import { gatewaySettings } from "../../runtime/gateway/settings.ts";
import { buildInvocationMetrics } from "../../runtime/process/metrics/invocation-metrics.ts";
import { createLog } from "../../runtime/process/log.ts";
import { sampleQueue } from "../contract/samples.ts";
import { eventually } from "../support/eventually.ts";
import { openFunctionServer } from "../support/function-server.ts";
import { openNatsServer } from "../support/nats-server.ts";

const ref = { name: "echo", namespace: "functions" };
const mebibyte = 1_048_576;

/** A gateway as on Kubernetes, where the broker stores neither functions nor endpoints; they are in memory here. */
async function gatewayOf(link: NatsLink, address: string): Promise<BuiltGateway> {
  const { settings } = startSettings(gatewaySettings, {
    typed: { values: { port: "0", "basic-auth": "false" }, unknown: [], withoutValue: [], words: [] },
    environment: {},
    readFile: () => new Uint8Array(0),
    rules: [],
    sharedFile: true,
  });
  const endpoints = new MemoryEndpoints();
  await endpoints.publish({ ...ref, addresses: [address], observedGeneration: 1, conditions: [] });
  const functions = new MemoryFunctionStore();
  await functions.write(ref, () => desireFunction(undefined, ref.namespace, { service: ref.name, image: "none" }, ""));
  const registry = new Registry();
  return buildGateway({
    settings,
    ...gatewayBroker(link, settings),
    functions,
    endpoints,
    namespaces: new MemoryNamespaceStore(),
    upstream: new HttpUpstream(),
    secrets: undefined,
    logs: undefined,
    callbackRules: { policy: "any", allow: [], gatewayOrigins: [], closedPorts: [] },
    info: platformInfo({
      provider: "kubernetes",
      version: { release, sha: "", commit_message: "" },
      arch: process.arch,
      edition: settings.edition,
      functionNamespace: ref.namespace,
      namespaceAliases: [],
      durability: "interval",
    }),
    registry,
    invocations: buildInvocationMetrics(registry),
    brokerPatience: 10,
    log: createLog("gateway", "silent"),
  });
}

test("a gateway that starts without a broker serves synchronous calls, and queues once there is one", async () => {
  const server = await openNatsServer({ users: true });
  await server.stop();
  const echo = await openFunctionServer();
  const link = NatsLink.begin({ ...server.access(natsUser.gateway), name: "gateway", pingInterval: 5_000 });
  const gateway = await gatewayOf(link, echo.address);
  const url = `http://127.0.0.1:${await gateway.open()}`;
  const call = async (path: string, method = "POST") => {
    const response = await fetch(url + path, { method, headers: { accept: "application/json" } });
    return { status: response.status, headers: response.headers, body: await response.text() };
  };

  expect(await call("/function/echo")).toMatchObject({ status: 200, body: "ok" });
  const refused = await call("/async-function/echo");
  expect([refused.status, JSON.parse(refused.body)]).toEqual([
    503,
    expect.objectContaining({ code: "queue_unavailable", detail: expect.stringContaining('queue "default"') }),
  ]);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  expect(refused.headers.get("x-call-queued")).toBe("no");
  const unknownCall = "/async-function/3f8c1a52-0c5c-4a86-9d43-7f6b52b5c9d1";
  for (const path of ["/system/queues", "/system/queue/default", unknownCall, `${unknownCall}/result`]) {
    expect([path, (await call(path, "GET")).status]).toEqual([path, 503]);
  }
  expect((await call(unknownCall, "DELETE")).status).toBe(503);
  // That the broker is away is what it says, not an error.
  const examined = await call("/system/doctor", "GET");
  expect([examined.status, JSON.parse(examined.body)]).toEqual([
    200,
    expect.objectContaining({
      findings: expect.arrayContaining([
        expect.objectContaining({ id: "broker", level: "problem" }),
        expect.objectContaining({ id: "queues", level: "problem" }),
      ]),
    }),
  ]);
  expect((await call("/system/function/echo", "GET")).status).toBe(200);

  await server.restart();
  await link.opened;
  // The broker is there, but not its queue-doctor.
  expect((await call("/async-function/echo")).status).toBe(503);
  const doctor = await NatsLink.open({ ...server.access(natsUser.doctor), name: "doctor", pingInterval: 5_000 });
  const facts = { maxFileStore: 512 * mebibyte, payloadLimit: mebibyte, maxCallRecords: 1_000, replicas: 1 };
  const { store, catalog } = doctorAdapters(doctor, { ...facts, oneMachine: false }, []);
  await store.provision([sampleQueue()]);
  await catalog.put(sampleQueue());
  await eventually(async () => (await call("/async-function/echo")).status === 202, { what: "an accepted call" });
  expect((await call(unknownCall, "GET")).status).toBe(404);
  expect((await call("/system/queue/default", "GET")).status).toBe(200);

  await gateway.close();
  await link.close();
  await doctor.close();
  await echo.close();
  await server.close();
});

test("a gateway that is closed before there was a broker ends at once", async () => {
  const server = await openNatsServer({ users: true });
  await server.stop();
  const echo = await openFunctionServer();
  const link = NatsLink.begin({ ...server.access(natsUser.gateway), name: "gateway", pingInterval: 5_000 });
  const gateway = await gatewayOf(link, echo.address);
  await gateway.open();
  await gateway.close();
  await link.close();
  expect(link.isClosed).toBe(true);
  await echo.close();
  await server.close();
});
