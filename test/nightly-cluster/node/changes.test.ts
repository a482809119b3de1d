import { X509Certificate } from "node:crypto";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { natsOf, shownCertificate } from "../../support/broker-of-stack.ts";
import { clusterClient } from "../../support/cluster-client.ts";
import { clusterIdentity, clusterIssuer } from "../../support/cluster-identity.ts";
import type { ClusterPlatform } from "../../support/cluster-platform.ts";
import { eventually } from "../../support/eventually.ts";
import { upUnderCalls } from "../../support/stack-under-calls.ts";
import { hasPulumi, longStep, smallStack, stacksCluster } from "../../support/stacks-cluster.ts";
import { useTokens } from "../../support/tokens-in-use.ts";
import { openWeirStack, stackPlatform, type WeirStack } from "../../support/weir-stack.ts";

const opened = stacksCluster();

describe.skipIf(!hasPulumi)("changes of a stack of edition enterprise on real pods", () => {
  let stack: WeirStack;
  let platform: ClusterPlatform;
  const client = clusterClient(() => platform);
  const identity = clusterIdentity(() => platform);
  const underCalls = upUnderCalls(() => ({ stack, platform }));
  /** Queues a call, once that is possible: the only server of the broker may just have been replaced. Its id. */
  const queue = (name: string): Promise<string> =>
    eventually(
      async () => {
        const queued = await client.send(`/async-function/${name}`, { method: "POST", body: "hello" });
        return queued.status === 202 ? queued.headers.get("x-call-id") : undefined;
      },
      { what: "a call to be queued", every: 500 },
    );

  beforeAll(async () => {
    stack = await openWeirStack(opened().cluster, "enterprise");
    const cluster = await clusterIssuer(opened().cluster, stack.namespace);
    await stack.configure({ ...smallStack, "weir:iam": { issuers: { cluster } } });
    await stack.expect("up");
    platform = await stackPlatform(stack, opened().cluster, opened().image);
    await client.deploy("steady");
    await client.deploy("guarded", { annotations: { "com.service.auth": "required" } });
    await client.deploy("reporter", { annotations: { "com.service.queue": "reports" } });
  }, longStep);
  afterAll(async () => {
    await stack?.run("destroy");
    await stack?.close();
  }, longStep);

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
    "new passwords and keys: old passwords are refused, old tokens valid, queued calls survive, and no call is lost",
    async () => {
      const id = await queue("steady");
      expect(await client.ended(id)).toMatchObject({ state: "done" });
      await identity.grant("pipeline", ["Function:*"], [`${platform.functionNamespace}:*`]);
      const use = { identity, account: "pipeline", functionName: "guarded", atMost: 3_000 };
      const tokens = await useTokens({ ...use, platform });
      let rounds = 0;
      try {
        const { failures, up } = await underCalls({ "weir:rotation": "second" });
        expect(failures).toEqual([]);
        expect(up.changes.filter((change) => change.startsWith("replace RandomPassword")).length).toBeGreaterThan(4);
        expect((await client.send("/system/functions")).status).toBe(401);
        platform = await stackPlatform(stack, opened().cluster, opened().image);
        expect((await client.send("/system/functions")).status).toBe(200);
        expect(await client.ended(id)).toMatchObject({ state: "done" });
        expect(await client.ended(await queue("steady"))).toMatchObject({ state: "done" });
        expect((await stack.expect("up")).changes).toEqual([]);
        // A gateway signs with the new key once it has known it for two minutes: by then all of them do.
        await eventually(() => tokens.byKey().size > 1, {
          within: 240_000,
          what: "a token of the new key",
          every: 500,
        });
      } finally {
        rounds = await tokens.stop();
      }
      expect(tokens.failures()).toEqual([]);
      expect(rounds).toBeGreaterThan(100);
      const [old, current] = [...tokens.byKey().keys()];
      expect(tokens.byKey().size).toBe(2);
      for (const url of await identity.gateways()) {
        const response = await fetch(`${url}/.well-known/jwks.json`);
        const { keys } = (await response.json()) as { readonly keys: readonly { readonly kid: string }[] };
        expect(keys.map(({ kid }) => kid)).toEqual([current, old]);
        for (const token of tokens.byKey().values()) {
          const headers = { authorization: `Bearer ${token}` };
          expect((await fetch(`${url}/system/functions`, { headers })).status).toBe(200);
          expect((await fetch(`${url}/function/guarded`, { headers, method: "POST" })).status).toBe(200);
        }
      }
    },
    2 * longStep,
  );

  test(
    "a new certificate of the broker: clients get it, queued calls run, and no call is lost",
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
      expect(await client.ended(await queue("steady"))).toMatchObject({ state: "done" });
    },
    longStep,
  );

  test(
    "a removed queue that holds a call: the doctor reports it, and the call runs once the queue is back",
    async () => {
      const workers = "app.kubernetes.io/instance=queue-worker-reports";
      await stack.kubectl("scale", "deployment", "--selector", workers, "--replicas=0");
      await stack.kubectl("wait", "pod", "--selector", workers, "--for=delete", "--timeout=60s");
      const id = await queue("reporter");
      const { "weir:queues": queues } = await stack.configuration();
      await stack.configure({ "weir:queues": undefined });
      await stack.expect("up");
      await eventually(
        async () => {
          const doctors = ["logs", "--selector", "app.kubernetes.io/name=queue-doctor", "--tail=-1"];
          const lines = (await stack.kubectl(...doctors)).split("\n");
          return lines.some((line) => line.includes("no longer declared and holds calls") && line.includes("reports"));
        },
        { within: 60_000, what: "the doctor's log line", every: 500 },
      );
      expect(await (await client.send(`/async-function/${id}`)).json()).toMatchObject({ state: "queued" });

      await stack.configure({ "weir:queues": queues });
      await stack.expect("up");
      expect(await client.ended(id)).toMatchObject({ state: "done", queue: "reports" });
    },
    longStep,
  );
});
