import { X509Certificate } from "node:crypto";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { natsOf, shownCertificate } from "../../support/broker-of-stack.ts";
import { clusterClient } from "../../support/cluster-client.ts";
import { loadPlatformImages, type ClusterPlatform } from "../../support/cluster-platform.ts";
import { eventually } from "../../support/eventually.ts";
import { testManyNamespaces } from "../../support/many-namespaces.ts";
import { testPlatformUse } from "../../support/platform-use.ts";
import { hasPulumi, longStep, smallCpu, stacksCluster } from "../../support/stacks-cluster.ts";
import { steadyCalls } from "../../support/steady-calls.ts";
import { expectNothingLeft, openWeirStack, stackPlatform, type WeirStack } from "../../support/weir-stack.ts";

/** Fits on a node of two processors, with functions beside it. */
const small = {
  "weir:nats": { replicas: 1, storage: "1Gi" },
  "weir:gateway": { replicas: 2 },
  "weir:queueDoctor": { replicas: 1 },
  "weir:autoscaler": { replicas: 1 },
  "weir:operator": { replicas: 1 },
  "weir:queueWorkers": 1,
  "weir:cpu": smallCpu,
};

const opened = stacksCluster();

describe.skipIf(!hasPulumi)("a stack of edition enterprise on real pods", () => {
  let stack: WeirStack;
  let platform: ClusterPlatform;
  const client = clusterClient(() => platform);

  beforeAll(async () => {
    stack = await openWeirStack(opened().cluster, "enterprise");
    await stack.configure(small);
    await stack.expect("up");
    platform = await stackPlatform(stack, opened().cluster, opened().image);
  }, longStep);
  afterAll(() => stack?.close());

  testPlatformUse(() => platform);

  describe("with many namespaces", () => testManyNamespaces(() => platform));

  test("a queue of the stack has its own workers", async () => {
    await client.deploy("reporter", { annotations: { "com.service.queue": "reports" } });
    const queued = await client.send("/async-function/reporter", { method: "POST", body: "hello" });
    expect(queued.status).toBe(202);
    expect(await client.ended(queued.headers.get("x-call-id") ?? "")).toMatchObject({
      state: "done",
      queue: "reports",
    });
  });

  /** What fails of about a hundred calls a second while `change` is under way, and what `up` did. */
  async function underCalls(change: Readonly<Record<string, unknown>>, ...args: readonly string[]) {
    await client.deploy("steady", { labels: { "com.service.scale.min": "2", "com.service.scale.max": "2" } });
    await stack.configure(change);
    const enough = new AbortController();
    const urls = [`${platform.url}/function/steady`];
    const calls = steadyCalls({ urls, rate: 100, atOnce: 32, signal: enough.signal });
    const up = await stack.expect("up", ...args).finally(() => enough.abort());
    const { failures, latencies } = await calls;
    expect([...latencies.values()].flat().length).toBeGreaterThan(500);
    return { failures, up };
  }

  test(
    "another setting loses no call",
    async () => {
      const { failures, up } = await underCalls({ "weir:upstreamTimeout": "90s" });
      expect(failures).toEqual([]);
      expect(up.changes).toContain("update Deployment weir-gateway-gateway");
    },
    longStep,
  );

  test(
    "another version loses no call, and comes to the operator first, to the gateways last",
    async () => {
      await loadPlatformImages(opened().cluster, "next");
      const { failures, up } = await underCalls({ "weir:images": { weir: "weir:next", nats: "weir-nats:next" } });
      expect(failures).toEqual([]);
      const order = up.steps.filter(({ op }) => op === "update").map(({ name }) => name);
      const at = (name: string): number => order.indexOf(name);
      expect(at("weir-operator-operator")).toBeGreaterThanOrEqual(0);
      expect(at("weir-operator-operator")).toBeLessThan(at("weir-queue-workers-queue-worker"));
      expect(at("weir-queue-workers-queue-worker")).toBeLessThan(at("weir-gateway-gateway"));
      const imagesOfPods = async (): Promise<readonly string[]> => {
        const images = await stack.kubectl("get", "pods", "--output=jsonpath={.items[*].spec.containers[*].image}");
        return [...new Set(images.split(" "))].sort();
      };
      await eventually(async () => (await imagesOfPods()).join() === "weir-nats:next,weir:next", {
        within: 60_000,
        what: "pods of the next version alone",
        every: 500,
      });
      expect(await client.call("steady")).toBe("200 hello");
    },
    longStep,
  );

  test(
    "other passwords: the old ones open nothing, what was queued is there, and no call is lost",
    async () => {
      const queued = await client.send("/async-function/steady", { method: "POST", body: "hello" });
      const id = queued.headers.get("x-call-id") ?? "";
      expect(await client.ended(id)).toMatchObject({ state: "done" });
      const { failures, up } = await underCalls({ "weir:rotation": "second" });
      expect(failures).toEqual([]);
      expect(up.changes.filter((change) => change.startsWith("replace RandomPassword")).length).toBeGreaterThan(4);
      expect((await client.send("/system/functions")).status).toBe(401);
      platform = await stackPlatform(stack, opened().cluster, opened().image);
      expect((await client.send("/system/functions")).status).toBe(200);
      expect(await client.ended(id)).toMatchObject({ state: "done" });
      const next = await client.send("/async-function/steady", { method: "POST", body: "hello" });
      expect(await client.ended(next.headers.get("x-call-id") ?? "")).toMatchObject({ state: "done" });
    },
    longStep,
  );

  test(
    "another certificate of the broker: who connects sees it, what was queued is there, and no call is lost",
    async () => {
      const serial = async (): Promise<string> => {
        const encoded = await stack.kubectl("get", "secret", "nats-tls", "--output=jsonpath={.data.tls\\.crt}");
        return new X509Certificate(Buffer.from(encoded, "base64")).serialNumber;
      };
      const before = await serial();
      const key = (await stack.resources()).find(
        ({ type, urn }) => type.endsWith(":PrivateKey") && urn.endsWith("::weir-credentials-nats-server"),
      );
      const { failures, up } = await underCalls({}, "--replace", key?.urn ?? "");
      expect(failures).toEqual([]);
      expect(up.changes).toContain("update StatefulSet weir-nats-nats");
      expect(await serial()).not.toBe(before);
      expect(await shownCertificate(await natsOf(stack))).toBe(await serial());
      const next = await client.send("/async-function/steady", { method: "POST", body: "hello" });
      expect(await client.ended(next.headers.get("x-call-id") ?? "")).toMatchObject({ state: "done" });
    },
    longStep,
  );

  test(
    "a queue that holds a call and is taken away: the doctor says so, and the call runs once the queue is back",
    async () => {
      const workers = "app.kubernetes.io/instance=queue-worker-reports";
      await stack.kubectl("scale", "deployment", "--selector", workers, "--replicas=0");
      await stack.kubectl("wait", "pod", "--selector", workers, "--for=delete", "--timeout=60s");
      const queued = await client.send("/async-function/reporter", { method: "POST", body: "hello" });
      const id = queued.headers.get("x-call-id") ?? "";
      const { "weir:queues": queues } = await stack.configuration();
      await stack.configure({ "weir:queues": undefined });
      await stack.expect("up");
      await eventually(
        async () => {
          const doctors = ["logs", "--selector", "app.kubernetes.io/name=queue-doctor", "--tail=-1"];
          const lines = (await stack.kubectl(...doctors)).split("\n");
          return lines.some((line) => line.includes("declared no more and holds calls") && line.includes("reports"));
        },
        { within: 60_000, what: "the doctor's word", every: 500 },
      );
      expect(await (await client.send(`/async-function/${id}`)).json()).toMatchObject({ state: "queued" });

      await stack.configure({ "weir:queues": queues });
      await stack.expect("up");
      expect(await client.ended(id)).toMatchObject({ state: "done", queue: "reports" });
    },
    longStep,
  );

  test(
    "destroy ends, with functions in it, and leaves nothing but the definitions",
    () => expectNothingLeft(stack),
    longStep,
  );
});
