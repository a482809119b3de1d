import { afterAll, beforeAll, expect, test } from "vitest";

import { clusterClient } from "../../support/cluster-client.ts";
import { clusterPart } from "../../support/cluster-part.ts";
import { openClusterPlatform, type ClusterPlatform } from "../../support/cluster-platform.ts";
import { eventually } from "../../support/eventually.ts";

/** A platform of an edition with many namespaces of functions. */
let platform: ClusterPlatform;
let team: string;

beforeAll(async () => {
  platform = await openClusterPlatform({ edition: "pro" });
  team = `${platform.namespace}-team`;
}, 400_000);
afterAll(async () => {
  if (platform === undefined) return;
  await platform.cluster.kubectl(["delete", "namespace", team, "--ignore-not-found"], {
    namespace: null,
    timeout: 120_000,
  });
  await platform.close();
}, 300_000);

const patience = 60_000;
const client = clusterClient(() => platform);
const deployed = async (name: string): Promise<true> => {
  await client.deploy(name);
  return true;
};
const inTeam = (...args: readonly string[]): Promise<string> => platform.cluster.kubectl(args, { namespace: team });

test("a namespace made by request gets what keeps it apart", async () => {
  const answer = await client.sendJson("POST", `/system/namespace/${team}`, {
    name: team,
    annotations: { "com.service": "1" },
  });
  expect([answer.status, await answer.text()]).toEqual([201, ""]);
  const bindings = ["gateway", "queue-worker", "autoscaler", "operator"].map(
    (account) => `rolebinding.rbac.authorization.k8s.io/${platform.namespace}-${account}-functions`,
  );
  await eventually(
    async () => {
      const names = (await inTeam("get", "rolebindings,networkpolicies,quota,limits", "--output=name")).split("\n");
      const kinds = new Set(names.map((name) => name.split("/")[0]));
      return (
        bindings.every((name) => names.includes(name)) &&
        ["networkpolicy.networking.k8s.io", "resourcequota", "limitrange"].every((kind) => kinds.has(kind))
      );
    },
    { within: patience, what: "bindings, policies, quota and limits" },
  );
  expect(await (await client.send("/system/namespaces")).json()).toEqual(expect.arrayContaining([team]));
});

test("functions of the same name in two namespaces are two", async () => {
  await client.deploy("twin", { envProcess: "echo first" });
  await client.deploy(`twin.${team}`, { envProcess: "echo second" });
  expect(await client.call(`twin.${platform.functionNamespace}`)).toBe("200 first\n");
  expect(await client.call(`twin.${team}`)).toBe("200 second\n");
  const queued = await client.send(`/async-function/twin.${team}`, { method: "POST", body: "hello" });
  expect(queued.status).toBe(202);
  expect(await client.ended(queued.headers.get("x-call-id") ?? "")).toMatchObject({ state: "done" });
});

test("a function there sleeps and wakes", async () => {
  await client.deploy(`sleeper.${team}`, {
    labels: { "com.service.scale.zero": "true", "com.service.scale.zero-duration": "10s" },
  });
  await client.shows(`sleeper.${team}`, "the function to sleep", ({ replicas }) => replicas === 0);
  expect(await client.call(`sleeper.${team}`)).toBe("200 hello");
});

test("pods have what the function's profile says", async () => {
  const toleration = { key: "spot", operator: "Exists", effect: "NoSchedule" };
  await platform.cluster.apply({
    apiVersion: "service.com/v1",
    kind: "Profile",
    metadata: { name: "spot" },
    spec: { tolerations: [toleration] },
  });
  await client.deploy(`tolerant.${team}`, { annotations: { "com.service.profile": "spot" } });
  const pods = JSON.parse(await inTeam("get", "pods", "--selector=faas_function=tolerant", "--output=json")) as {
    readonly items: readonly { readonly spec: { readonly tolerations: readonly object[] } }[];
  };
  expect(pods.items.map(({ spec }) => spec.tolerations)).toEqual([expect.arrayContaining([toleration])]);
});

test("a namespace deleted by request goes with all that is in it", async () => {
  const answer = await client.sendJson("DELETE", `/system/namespace/${team}`, { name: team });
  expect([answer.status, await answer.text()]).toEqual([202, ""]);
  await eventually(
    async () =>
      (await platform.cluster.kubectl(["get", "namespace", team, "--ignore-not-found"], { namespace: null })) === "",
    { within: 120_000, what: "the namespace to be gone", every: 500 },
  );
  expect((await client.send(`/function/twin.${team}`)).status).toBe(404);
  expect(await client.call("twin")).toBe("200 first\n");
});

test("the operator goes on when the API server was started again", async ({ skip }) => {
  const { directory } = platform.cluster;
  const server = await (directory === undefined
    ? skip("the cluster is not one of scripts/cluster: nobody told its processes")
    : clusterPart(directory, "kube-apiserver"));
  await server.kill();
  await server.restart();
  await eventually(() => platform.cluster.kubectl(["get", "--raw=/readyz"], { namespace: null }), {
    within: patience,
    what: "the API server",
    every: 500,
  });
  await eventually(() => deployed("after"), { within: patience, what: "a deployment", every: 1_000 });
  expect(await client.call("after")).toBe("200 hello");
  expect(await client.call("twin")).toBe("200 first\n");
}, 240_000);
