import { expect, test } from "vitest";

import { clusterClient } from "./cluster-client.ts";
import type { ClusterPlatform } from "./cluster-platform.ts";
import { eventually } from "./eventually.ts";

const timeout = 60_000;

/** Tests of additional namespaces of functions, on a platform whose edition has many. */
export function testManyNamespaces(opened: () => ClusterPlatform): void {
  const client = clusterClient(opened);
  const team = (): string => `${opened().namespace}-team`;
  const inTeam = (...args: readonly string[]): Promise<string> => opened().cluster.kubectl(args, { namespace: team() });

  test("a namespace created by request gets the objects that isolate it", async () => {
    const response = await client.sendJson("POST", `/system/namespace/${team()}`, {
      name: team(),
      annotations: { "com.service": "1" },
    });
    expect([response.status, await response.text()]).toEqual([201, ""]);
    const bindings = ["gateway", "queue-worker", "autoscaler", "operator", "history"].map(
      (account) => `rolebinding.rbac.authorization.k8s.io/${opened().namespace}-${account}-functions`,
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
      { within: timeout, what: "bindings, policies, quota and limits", every: 250 },
    );
    expect(await (await client.send("/system/namespaces")).json()).toEqual(expect.arrayContaining([team()]));
  });

  test("functions of the same name in two namespaces are independent", async () => {
    await client.deploy("twin", { envProcess: "echo first" });
    await client.deploy(`twin.${team()}`, { envProcess: "echo second" });
    expect(await client.call(`twin.${opened().functionNamespace}`)).toBe("200 first\n");
    expect(await client.call(`twin.${team()}`)).toBe("200 second\n");
    const queued = await client.send(`/async-function/twin.${team()}`, { method: "POST", body: "hello" });
    expect(queued.status).toBe(202);
    expect(await client.ended(queued.headers.get("x-call-id") ?? "")).toMatchObject({ state: "done" });
  });

  test("a function in such a namespace scales to zero and wakes", async () => {
    await client.deploy(`sleeper.${team()}`, {
      labels: { "com.service.scale.zero": "true", "com.service.scale.zero-duration": "10s" },
    });
    await client.shows(`sleeper.${team()}`, "the function to sleep", ({ replicas }) => replicas === 0);
    expect(await client.call(`sleeper.${team()}`)).toBe("200 hello");
  });

  test("pods get the settings of the function's profile", async () => {
    const toleration = { key: "spot", operator: "Exists", effect: "NoSchedule" };
    await opened().cluster.apply({
      apiVersion: "service.com/v1",
      kind: "Profile",
      metadata: { name: "spot", namespace: opened().namespace },
      spec: { tolerations: [toleration] },
    });
    await client.deploy(`tolerant.${team()}`, { annotations: { "com.service.profile": "spot" } });
    const pods = JSON.parse(await inTeam("get", "pods", "--selector=faas_function=tolerant", "--output=json")) as {
      readonly items: readonly { readonly spec: { readonly tolerations: readonly object[] } }[];
    };
    expect(pods.items.map(({ spec }) => spec.tolerations)).toEqual([expect.arrayContaining([toleration])]);
  });

  test("a namespace deleted by request is removed with its content", async () => {
    const response = await client.sendJson("DELETE", `/system/namespace/${team()}`, { name: team() });
    expect([response.status, await response.text()]).toEqual([202, ""]);
    await eventually(
      async () =>
        (await opened().cluster.kubectl(["get", "namespace", team(), "--ignore-not-found"], { namespace: null })) ===
        "",
      { within: 120_000, what: "the namespace to be gone", every: 500 },
    );
    expect((await client.send(`/function/twin.${team()}`)).status).toBe(404);
    expect(await client.call("twin")).toBe("200 first\n");
  });
}
