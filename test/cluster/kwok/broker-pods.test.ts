import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { afterAll, beforeAll, expect, test } from "vitest";

import { accessManifests } from "../../../infra/manifests/rights/access.ts";
import { readPlatform } from "../../../infra/manifests/read-platform.ts";
import { accounts } from "../../../runtime/api/accounts.ts";
import { brokerObjects, brokerPodHost } from "../../../runtime/api/broker/broker-pods.ts";
import { flagsAsAccount } from "../../support/cluster-account.ts";
import { loadBaseImage } from "../../support/cluster-images.ts";
import { eventually } from "../../support/eventually.ts";
import { openNatsServer, type TestNatsServer } from "../../support/nats-server.ts";
import { readinessOf } from "../../support/platform-admin.ts";
import { platformProcess, type PlatformProcess } from "../../support/platform-process.ts";
import { tempDirectory, type TempDirectory } from "../../support/temp-directory.ts";
import { openTestCluster, type TestCluster } from "../../support/test-cluster.ts";

/** Hosts of servers that cannot store, until their pods are replaced. */
const unavailable = new Set<string>();
const pods = ["nats-0", "nats-1", "nats-2"];
const failure = { status: "unavailable", error: "JetStream stream 'x': write error: no space left on device" };
const monitoring = createServer(({ url = "", headers: { host = "" } }, response) => {
  if (url.startsWith("/jsz")) response.end(JSON.stringify({ config: { sync_always: true } }));
  else if (unavailable.has(host.replace(/:\d+$/, ""))) response.writeHead(503).end(JSON.stringify(failure));
  else response.end(JSON.stringify({ status: "ok" }));
});

let cluster: TestCluster;
let directory: TempDirectory;
let broker: TestNatsServer;
let doctor: PlatformProcess;

const hostOf = (pod: string): string => brokerPodHost(pod, cluster.namespace, "cluster.local");
const uidOf = (pod: string) => cluster.kubectl(["get", "pod", pod, "--output=jsonpath={.metadata.uid}"]);
const uids = () => Promise.all(pods.map(uidOf));

beforeAll(async () => {
  cluster = await openTestCluster();
  directory = await tempDirectory("doctor");
  broker = await openNatsServer();
  monitoring.listen(0, "127.0.0.1");
  await once(monitoring, "listening");
  const { port } = monitoring.address() as AddressInfo;
  const name = accounts.queueDoctor;
  const access = accessManifests(readPlatform({ edition: "community", platformNamespace: cluster.namespace }));
  const labels = { app: brokerObjects.statefulSet };
  // Where pods only pretend to run, the image is never pulled.
  const image = cluster.level === "node" ? await loadBaseImage(cluster) : "example/nats:1";
  const container = { name: "nats", image, imagePullPolicy: "Never", command: ["sleep", "3600"] };
  await cluster.apply(
    ...access
      .filter(({ metadata }) => metadata.name.includes(name))
      .map((each) => ({ ...each, metadata: { ...each.metadata } })),
    {
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      metadata: { name: brokerObjects.statefulSet },
      spec: {
        serviceName: brokerObjects.headless,
        replicas: pods.length,
        podManagementPolicy: "Parallel",
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { terminationGracePeriodSeconds: 1, containers: [container] } },
      },
    },
    { apiVersion: "v1", kind: "Pod", metadata: { name: "other" }, spec: { containers: [container] } },
  );
  await cluster.kubectl(["wait", "--for=condition=Ready", "pod", ...pods, "--timeout=60s"]);
  const connection = await flagsAsAccount(cluster, { name, namespace: cluster.namespace }, directory.path);
  doctor = platformProcess({
    name,
    main: "runtime/queue-doctor/main.ts",
    preload: () => [new URL("../../support/preload/cluster-names.ts", import.meta.url).href],
    flags: () => [
      ...connection,
      `--platform-namespace=${cluster.namespace}`,
      `--nats-url=${broker.url}`,
      `--nats-monitor-url=${pods.map((pod) => `http://${hostOf(pod)}:${port}`).join(",")}`,
      "--durability=always",
      "--max-file-store=1073741824",
      "--doctor-period=500ms",
      "--admin-port=0",
    ],
    readyMessage: "queue-doctor is ready",
  });
  await doctor.start();
}, 120_000);
afterAll(async () => {
  if (doctor?.running) await doctor.stop();
  monitoring.close();
  await broker?.close();
  await directory?.remove();
  await cluster?.close();
});

test("only the pod of a server that cannot store is deleted, and the doctor waits for its successor", async () => {
  const before = await uids();
  const isOther = async () => (await uidOf("nats-1").catch(() => before[1])) !== before[1];
  unavailable.add(hostOf("nats-1"));
  await eventually(isOther, { what: "another pod", every: 250 });
  expect(await readinessOf(doctor)).toContain(`the broker cannot store: ${hostOf("nats-1")}: ${failure.error}`);
  unavailable.clear();
  const restarted = () => doctor.log.find(({ msg }) => msg === "restarted a server of the broker");
  expect(await eventually(restarted, { what: "the end of the wait" })).toMatchObject({
    server: hostOf("nats-1"),
  });
  await eventually(async () => (await readinessOf(doctor)) === "ok\n", {
    what: "a healthy doctor",
  });
  const [first, second, third] = await uids();
  expect([first, third]).toEqual([before[0], before[2]]);
  expect(second).not.toBe(before[1]);
  expect(
    await cluster.kubectl([
      "get",
      "pod",
      "nats-1",
      "--output=jsonpath={.status.conditions[?(@.type=='Ready')].status}",
    ]),
  ).toBe("True");
  expect(doctor.mishaps).toEqual([]);
});

test("its account cannot delete other pods, nor list pods, nor delete the StatefulSet", async () => {
  const { kubectl } = await cluster.account(accounts.queueDoctor);
  await expect(kubectl(["delete", "pod", "other"])).rejects.toThrow('cannot delete resource "pods"');
  await expect(kubectl(["get", "pods"])).rejects.toThrow('cannot list resource "pods"');
  await expect(kubectl(["delete", "statefulset", "nats"])).rejects.toThrow("Forbidden");
  expect(await kubectl(["get", "pod", "nats-0", "--output=name"])).toBe("pod/nats-0\n");
});
