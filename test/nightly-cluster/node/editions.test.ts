import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { brokerCommand, brokerSecrets, scaleUsersOfTheBroker } from "../../support/broker-of-stack.ts";
import { clusterClient } from "../../support/cluster-client.ts";
import { openPulumiStack } from "../../support/engine-stack.ts";
import { hasPulumi, longStep, smallCpu, stacksCluster } from "../../support/stacks-cluster.ts";
import { tempDirectory } from "../../support/temp-directory.ts";
import {
  answerForIngress,
  expectNothingLeft,
  inNamespaces,
  openWeirStack,
  stackPlatform,
} from "../../support/weir-stack.ts";

const opened = stacksCluster();

describe.skipIf(!hasPulumi)("a stack of each other edition, as in its sample, on real pods", () => {
  test.each(["community", "standard"])(
    "%s starts, runs a function and a queued call, and is destroyed",
    async (edition) => {
      const stack = await openWeirStack(opened().cluster, edition);
      try {
        await stack.configure({ "weir:cpu": smallCpu });
        const ingress = edition === "standard" ? answerForIngress(stack, longStep) : undefined;
        await stack.expect("up");
        await ingress;
        const platform = await stackPlatform(stack, opened().cluster, opened().image);
        const client = clusterClient(() => platform);
        await client.deploy("echo");
        expect(await client.call("echo")).toBe("200 hello");
        const queued = await client.send("/async-function/echo", { method: "POST", body: "hello" });
        expect(await client.ended(queued.headers.get("x-call-id") ?? "")).toMatchObject({ state: "done" });
        await expectNothingLeft(stack);
      } finally {
        await stack.close();
      }
    },
    longStep,
  );
});

describe.skipIf(!hasPulumi)("a stack of edition pro, as in its sample, with a broker of three servers", () => {
  test(
    "is restored with all calls under a new key of the store and a new password between servers",
    async () => {
      const stack = await openWeirStack(opened().cluster, "pro");
      const place = await tempDirectory("broker-backup");
      try {
        await stack.configure({ "weir:cpu": smallCpu });
        await stack.expect("up");
        let platform = await stackPlatform(stack, opened().cluster, opened().image);
        const client = clusterClient(() => platform);
        const send = async (): Promise<string> => {
          const queued = await client.send("/async-function/echo", { method: "POST", body: "hello" });
          expect(queued.status).toBe(202);
          return queued.headers.get("x-call-id") ?? "";
        };
        await client.deploy("echo");
        expect(await client.call("echo")).toBe("200 hello");
        const ended = await send();
        expect(await client.ended(ended)).toMatchObject({ state: "done" });
        await scaleUsersOfTheBroker(stack, 0, "queue-worker");
        const waiting = await send();
        const secrets = await brokerSecrets(stack);
        await brokerCommand(stack, place.path, "main.ts", "--to", join(place.path, "backup"));
        await expectNothingLeft(stack);

        await stack.expect("up");
        const others = await brokerSecrets(stack);
        expect(others.filter((each) => secrets.includes(each))).toEqual([]);
        platform = await stackPlatform(stack, opened().cluster, opened().image);
        await client.deploy("echo");
        await scaleUsersOfTheBroker(stack, 0);
        await brokerCommand(stack, place.path, "main-restore.ts", "--from", join(place.path, "backup"), "--replace");
        // The program did not scale them; that was done by hand.
        await stack.expect("up", "--refresh");
        expect(await client.ended(waiting)).toMatchObject({ state: "done" });
        expect(await client.ended(ended)).toMatchObject({ state: "done" });
        await expectNothingLeft(stack);
      } finally {
        await stack.close();
        await place.remove();
      }
    },
    2 * longStep,
  );
});

describe.skipIf(!hasPulumi)("the example of a platform and two functions in one stack", () => {
  test(
    "one up creates all, both functions reply, destroy succeeds",
    async () => {
      const example = join(import.meta.dirname, "..", "..", "..", "examples", "pulumi");
      const namespace = `${opened().cluster.namespace}-example`;
      const stack = inNamespaces(await openPulumiStack(example, "dev"), opened().cluster, namespace);
      try {
        await stack.configure({
          "weir:kubeconfig": opened().cluster.kubeconfig,
          "weir:platformNamespace": namespace,
          "weir:functionNamespace": stack.functionNamespace,
          "weir:nats": { storage: "1Gi" },
        });
        await stack.configureSecret("functions:signingKey", "a key nobody knows");
        await stack.expect("up");
        const platform = await stackPlatform(stack, opened().cluster, opened().image);
        const { paths } = await stack.outputs();
        for (const path of paths as readonly string[]) {
          const response = await fetch(`${platform.url}${path}`, { method: "POST", body: "hello" });
          expect([response.status, await response.text()]).toEqual([200, expect.stringMatching(/^[0-9a-f]{64} /)]);
        }
        expect(await stack.files()).not.toContain("a key nobody knows");
        await expectNothingLeft(stack);
      } finally {
        await stack.close();
      }
    },
    longStep,
  );
});
