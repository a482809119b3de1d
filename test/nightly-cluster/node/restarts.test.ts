import { setTimeout as pause } from "node:timers/promises";

import { afterAll, beforeAll, expect, test } from "vitest";

import { clusterClient } from "../../support/cluster-client.ts";
import { clusterPart, type ClusterPart } from "../../support/cluster-part.ts";
import { openClusterPlatform, type ClusterPlatform } from "../../support/cluster-platform.ts";
import { eventually } from "../../support/eventually.ts";
import { notDone, queuedLoad, type QueuedLoad } from "../../support/queued-load.ts";
import { steadyCalls, type SteadyCalls } from "../../support/steady-calls.ts";

/** What is promised when parts of the platform, or of the cluster, are restarted or unavailable. */
let platform: ClusterPlatform;

beforeAll(async () => {
  platform = await openClusterPlatform({
    gateway: { replicas: 2 },
    operator: { replicas: 2 },
    autoscaler: { replicas: 2 },
  });
  const labels = { "com.service.scale.min": "2", "com.service.scale.max": "2" };
  await client.deploy("steady", { labels, envProcess: `node -e '${program}'`, envVars: { mode: "http" } });
  await client.deploy("queued", { labels });
}, 400_000);
afterAll(() => platform?.close(), 200_000);

/** Replies without a new process for each call. */
const program = `require("http").createServer((ask, answer) => { ask.resume(); answer.end("ok"); }).listen(process.env.PORT, "127.0.0.1")`;
/** In the order of an upgrade; the broker is tested separately. */
const parts = ["queue-worker", "gateway", "autoscaler", "operator", "queue-doctor"];
const client = clusterClient(() => platform);
const deployed = async (name: string): Promise<true> => {
  await client.deploy(name);
  return true;
};

/** Runs both kinds of load until `during`, which can read the number of replies, has ended. */
async function underLoad(
  load: { readonly rate: number; readonly newConnections?: boolean },
  during: (replies: () => number) => Promise<void>,
): Promise<SteadyCalls & QueuedLoad> {
  const enough = new AbortController();
  const { signal } = enough;
  let replies = 0;
  const onAnswer = (): void => void (replies += 1);
  const urls = [`${platform.url}/function/steady`];
  const calls = steadyCalls({ ...load, urls, signal, atOnce: 32, onAnswer });
  const queued = queuedLoad({ client, name: "queued", every: 200, signal });
  try {
    await during(() => replies);
  } finally {
    enough.abort();
    await Promise.allSettled([calls, queued]);
  }
  return { ...(await calls), ...(await queued) };
}

/** New connections depend on the cluster's view of the gateways; existing ones do not. */
const newcomers = { rate: 100, newConnections: true };
const seconds = (since: number): number => (performance.now() - since) / 1_000;

function say(what: string, since: number, outcome: SteadyCalls & QueuedLoad, happened: string): void {
  const latencies = [...outcome.latencies.values()].flat().sort((a, b) => a - b);
  const p99 = latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN;
  console.log(
    `${what}: ${happened} in ${seconds(since).toFixed(0)} s: ${latencies.length} calls, 0 failed, p99 ${p99.toFixed(0)} ms; ` +
      `${outcome.accepted.length} queued, 0 lost, ${outcome.refused.length} refused`,
  );
}

const notOurs = "the cluster is not one of scripts/cluster: nobody told its processes";

/** A process of the cluster; the test is skipped if the cluster is not one of scripts/cluster. */
async function partOf(name: string, skip: (why: string) => never): Promise<ClusterPart> {
  const { directory } = platform.cluster;
  return directory === undefined ? skip(notOurs) : clusterPart(directory, name);
}

async function restart(workload: string): Promise<void> {
  await platform.cluster.kubectl(["rollout", "restart", workload]);
  await platform.cluster.kubectl(["rollout", "status", workload, "--timeout=170s"], { timeout: 180_000 });
}

test("S15 no call fails and no queued call is lost while every part is restarted repeatedly", async () => {
  const began = performance.now();
  let restarts = 0;
  const outcome = await underLoad({ rate: 400 }, async (replies) => {
    while (replies() < 60_000) {
      for (const part of parts) await restart(`deployment/${part}`);
      restarts += parts.length;
    }
  });
  expect(outcome.failures).toEqual([]);
  expect(outcome.refused).toEqual([]);
  expect(await notDone(client, outcome.accepted)).toEqual([]);
  say("S15", began, outcome, `${restarts} restarts`);
}, 480_000);

test("S15 without the broker no synchronous call fails, and only queued ones are refused", async () => {
  const began = performance.now();
  const outcome = await underLoad(newcomers, async () => {
    await restart("statefulset/nats");
    await platform.cluster.kubectl(["scale", "statefulset/nats", "--replicas=0"]);
    // Longer than it would take gateways to become unready if they needed the broker for readiness.
    await pause(12_000);
    await platform.cluster.kubectl(["scale", "statefulset/nats", "--replicas=1"]);
    await platform.cluster.kubectl(["rollout", "status", "statefulset/nats", "--timeout=60s"]);
  });
  expect(outcome.failures).toEqual([]);
  expect(outcome.refused.filter((word) => !/^503 (no|unknown)$/.test(word))).toEqual([]);
  expect(await notDone(client, outcome.accepted)).toEqual([]);
  const accepted = async (): Promise<boolean> =>
    (await client.send("/async-function/queued", { method: "POST", body: "hello" })).status === 202;
  await eventually(accepted, { what: "a queued call to be accepted" });
  say("S15, broker", began, outcome, "1 restart, and 12 s without it");
}, 240_000);

test("S17 functions reply while the API server does not, and changes are refused with a sentence", async ({ skip }) => {
  const server = await partOf("kube-apiserver", skip);
  const controllers = await partOf("kube-controller-manager", skip);
  const began = performance.now();
  const outcome = await underLoad(newcomers, async () => {
    // With leader election it would end by itself. A stale one would consider the node dead afterwards.
    await controllers.kill();
    server.freeze();
    try {
      const stopped = performance.now();
      const deployment = { service: "meanwhile", image: platform.image, envProcess: "cat" };
      const response = await client.sendJson("PUT", "/system/functions", deployment);
      expect(response.status).toBe(503);
      expect(await response.text()).toMatch(/^Cannot .+: the API server does not answer/);
      await pause(60_000 - (performance.now() - stopped));
    } finally {
      server.thaw();
      await controllers.restart();
    }
    // What the cluster does when its control plane comes back belongs to the measurement.
    await pause(15_000);
  });
  expect(outcome.failures).toEqual([]);
  expect(outcome.refused).toEqual([]);
  expect(await notDone(client, outcome.accepted)).toEqual([]);
  await eventually(() => deployed("meanwhile"), { within: 60_000, what: "a deployment", every: 1_000 });
  expect(await client.call("meanwhile")).toBe("200 hello");
  say("S17", began, outcome, "60 s without API server");
}, 300_000);

test("the operator continues after a restart of the API server", async ({ skip }) => {
  const server = await partOf("kube-apiserver", skip);
  await client.deploy("before");
  await server.kill();
  await server.restart();
  const limits = { within: 60_000, every: 500 };
  await eventually(() => platform.cluster.kubectl(["get", "--raw=/readyz"], { namespace: null }), {
    ...limits,
    what: "the API server",
  });
  await eventually(() => deployed("after"), { ...limits, what: "a deployment" });
  expect(await client.call("after")).toBe("200 hello");
  expect(await client.call("before")).toBe("200 hello");
}, 240_000);

test("calls continue while the kubelet is killed and restarted", async ({ skip }) => {
  const agent = await partOf("kubelet", skip);
  const began = performance.now();
  const outcome = await underLoad(newcomers, async () => {
    await agent.kill();
    try {
      await pause(10_000);
    } finally {
      await agent.restart();
    }
    await eventually(() => deployed("reborn"), { within: 60_000, what: "a deployment", every: 1_000 });
  });
  expect(outcome.failures).toEqual([]);
  expect(outcome.refused).toEqual([]);
  expect(await notDone(client, outcome.accepted)).toEqual([]);
  expect(await client.call("reborn")).toBe("200 hello");
  say("node agent", began, outcome, "killed once");
}, 240_000);

test("FP8 another operator and another autoscaler take over when the leader is killed", async () => {
  const labels = { "com.service.scale.zero": "true", "com.service.scale.zero-duration": "10s" };
  for (const part of ["operator", "autoscaler"] as const) {
    const began = performance.now();
    const leader = await leaderOf(part);
    await platform.cluster.kubectl(["delete", "pod", leader, "--force", "--grace-period=0"]);
    const next = await eventually(
      async () => {
        const found = await leaderOf(part);
        return found === leader ? undefined : found;
      },
      { within: 40_000, what: `another ${part} to act`, every: 200 },
    );
    expect(next).not.toBe(leader);
    console.log(`FP8: another ${part} acts after ${seconds(began).toFixed(1)} s`);
  }
  await client.deploy("drowsy", { labels });
  await client.shows("drowsy", "the function to sleep", ({ replicas }) => replicas === 0);
  expect(await client.call("drowsy")).toBe("200 hello");
  expect(await client.show("steady")).toMatchObject({ replicas: 2, availableReplicas: 2 });
}, 240_000);

/** Name of the leader's pod, by its own metric. */
async function leaderOf(part: "operator" | "autoscaler"): Promise<string> {
  const args = ["get", "pods", `--selector=app.kubernetes.io/name=${part}`, "--output=json"];
  const { items } = JSON.parse(await platform.cluster.kubectl(args)) as PodList;
  for (const { metadata, status } of items) {
    if (metadata.deletionTimestamp !== undefined || status.podIP === undefined) continue;
    const signal = AbortSignal.timeout(1_000);
    const text = await fetch(`http://${status.podIP}:8082/metrics`, { signal }).then(
      (response) => response.text(),
      () => "",
    );
    if (text.split("\n").includes(`${part}_leader 1`)) return metadata.name;
  }
  throw new Error(`No ${part} acts`);
}

interface PodList {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
    readonly status: { readonly podIP?: string };
  }[];
}
