import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { serviceNameLabel } from "../../../runtime/adapters/kubernetes/stores/endpoint-addresses.ts";
import { credentialFile, functionLabel } from "../../../runtime/api/names.ts";
import { flagsAsAccount } from "../../support/cluster-account.ts";
import { prepareForOperators } from "../../support/cluster-operator.ts";
import { freePort } from "../../support/free-port.ts";
import { platformProcess, type PlatformProcess } from "../../support/platform-process.ts";
import { tempDirectory, type TempDirectory } from "../../support/temp-directory.ts";
import { openTestCluster, type TestCluster } from "../../support/test-cluster.ts";

/** A gateway with the rights of its account, a real API server, and an unavailable broker. */

let cluster: TestCluster;
let directory: TempDirectory;
let server: Server;
let gateway: PlatformProcess;
let namespace: string;

beforeAll(async () => {
  cluster = await openTestCluster();
  directory = await tempDirectory("without-broker");
  ({ namespace } = await prepareForOperators(cluster, directory.path));
  server = createServer((_request, response) => response.end("served"));
  // An EndpointSlice accepts no loopback address; traffic to the machine's other addresses does not leave it either.
  const own = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const host = own.find(({ internal, family }) => !internal && family === "IPv4")?.address;
  if (host === undefined) throw new Error("expected this machine to have an address beside those of loopback");
  server.listen(0, host);
  await once(server, "listening");
  await deploy("served", host, (server.address() as AddressInfo).port);
  const flags = await flagsAsAccount(cluster, { name: "gateway", namespace: cluster.namespace }, directory.path);
  for (const file of [credentialFile.user, credentialFile.password, credentialFile.invokeKey])
    await writeFile(join(directory.path, file), "of-this-test");
  const broker = `nats://127.0.0.1:${await freePort()}`;
  gateway = platformProcess({
    name: "gateway",
    main: "runtime/gateway/main.ts",
    flags: () => [
      ...flags,
      `--platform-namespace=${cluster.namespace}`,
      `--function-namespace=${namespace}`,
      `--nats-url=${broker}`,
      `--secret-mount-path=${directory.path}`,
      "--edition=community",
      "--host=127.0.0.1",
      "--port=0",
      "--admin-port=0",
    ],
    readyMessage: "gateway is ready",
    readyWithin: 90_000,
  });
}, 120_000);
afterAll(async () => {
  if (gateway?.running) await gateway.stop();
  server?.close();
  await directory?.remove();
  await cluster?.close();
}, 60_000);

/** Writes what the operator and the controllers of Kubernetes write for a function with one ready pod. */
async function deploy(name: string, host: string, port: number): Promise<void> {
  const object = {
    apiVersion: "service.com/v1",
    kind: "Function",
    metadata: { name, namespace },
    spec: { image: "example/served:1", replicas: 1 },
  };
  const input = JSON.stringify(object);
  await cluster.kubectl(["apply", "--server-side", "--filename=-"], { namespace, input });
  const condition = { type: "Ready", status: "True", reason: "ReplicasReady", message: "1 of 1 replicas is ready" };
  const reported = { observedGeneration: 1, lastTransitionTime: new Date(0).toISOString() };
  const status = { status: { observedGeneration: 1, replicas: 1, conditions: [{ ...condition, ...reported }] } };
  const patch = ["patch", "fn", name, "--subresource=status", "--type=merge", `--patch=${JSON.stringify(status)}`];
  await cluster.kubectl(patch, { namespace });
  const slice = {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: `${name}-1`, namespace, labels: { [functionLabel]: name, [serviceNameLabel]: name } },
    addressType: "IPv4",
    endpoints: [{ addresses: [host], conditions: { ready: true } }],
    ports: [{ port }],
  };
  await cluster.kubectl(["apply", "--server-side", "--filename=-"], { namespace, input: JSON.stringify(slice) });
}

test(
  "a gateway that is started without the broker serves synchronous calls after 30 s",
  { timeout: 120_000 },
  async () => {
    await gateway.start();
    const waited = gateway.log.find(({ msg }) => msg === "starting without the broker: asynchronous calls are refused");
    expect(waited).toMatchObject({ waited: 30_000 });
    const url = `http://127.0.0.1:${String(gateway.ready["port"])}`;
    const response = await fetch(`${url}/function/served`, { method: "POST", body: "x" });
    expect([response.status, await response.text()]).toEqual([200, "served"]);
    const queued = await fetch(`${url}/async-function/served`, { method: "POST", body: "x" });
    expect(queued.status).toBe(503);
    expect(Number(queued.headers.get("retry-after"))).toBeGreaterThan(0);
    const admin = `http://127.0.0.1:${String(gateway.ready["adminPort"])}`;
    // The request of its probe, and that of a person.
    expect((await fetch(`${admin}/readyz?exclude=broker`)).status).toBe(200);
    const ready = await fetch(`${admin}/readyz`);
    expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining("broker: away")]);
    expect(gateway.mishaps).toEqual([]);
  },
);
