import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { testAccountTokens } from "../../support/account-tokens.ts";
import { clusterClient } from "../../support/cluster-client.ts";
import { testClusterHistory } from "../../support/cluster-history.ts";
import { testClusterConsole } from "../../support/cluster-console.ts";
import { clusterIssuer } from "../../support/cluster-identity.ts";
import { loadPlatformImages, type ClusterPlatform } from "../../support/cluster-platform.ts";
import { eventually } from "../../support/eventually.ts";
import { testManyNamespaces } from "../../support/many-namespaces.ts";
import { testPlatformUse } from "../../support/platform-use.ts";
import { testSignedCallbacks } from "../../support/signed-callbacks.ts";
import { hasPulumi, longStep, smallStack, stacksCluster } from "../../support/stacks-cluster.ts";
import { upUnderCalls } from "../../support/stack-under-calls.ts";
import { expectNothingLeft, openWeirStack, stackPlatform, type WeirStack } from "../../support/weir-stack.ts";

const opened = stacksCluster();

describe.skipIf(!hasPulumi)("a stack of edition enterprise on real pods", () => {
  let stack: WeirStack;
  let platform: ClusterPlatform;
  const client = clusterClient(() => platform);

  beforeAll(async () => {
    stack = await openWeirStack(opened().cluster, "enterprise");
    const cluster = await clusterIssuer(opened().cluster, stack.namespace);
    await stack.configure({ ...smallStack, "weir:iam": { issuers: { cluster } }, "weir:console": { port: 8081 } });
    await stack.expect("up");
    platform = await stackPlatform(stack, opened().cluster, opened().image);
  }, longStep);
  afterAll(() => stack?.close());

  testPlatformUse(() => platform);

  describe("with many namespaces", () => testManyNamespaces(() => platform));

  describe("with its cluster as an issuer of tokens", () => testAccountTokens(() => platform));

  describe("with secrets of callbacks", () => testSignedCallbacks(() => platform));

  describe("with a history of calls", () => testClusterHistory(() => platform));

  describe("with a console", () => testClusterConsole(() => platform));

  test("a queue of the stack has its own workers", async () => {
    await client.deploy("reporter", { annotations: { "com.service.queue": "reports" } });
    const queued = await client.send("/async-function/reporter", { method: "POST", body: "hello" });
    expect(queued.status).toBe(202);
    expect(await client.ended(queued.headers.get("x-call-id") ?? "")).toMatchObject({
      state: "done",
      queue: "reports",
    });
  });

  const underCalls = upUnderCalls(() => ({ stack, platform }));

  test(
    "another version loses no call, and rolls the operator first and the gateways last",
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
    "destroy succeeds with functions in it, and leaves nothing but the definitions",
    () => expectNothingLeft(stack),
    longStep,
  );
});
