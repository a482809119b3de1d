import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { openTestCluster, type KubernetesObject, type TestCluster } from "../../support/test-cluster.ts";

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await openTestCluster();
});
afterAll(() => cluster?.close());

const configMap = (name: string, namespace?: string): KubernetesObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...(namespace !== undefined && { namespace }) },
  data: { colour: "green" },
});

test("the API server is ready, and its address and authority are known", async () => {
  expect(await cluster.kubectl(["get", "--raw=/readyz"])).toBe("ok");
  expect(cluster.server).toMatch(/^https:\/\//);
  expect(cluster.ca).toContain("BEGIN CERTIFICATE");
});

describe("namespaces", () => {
  test("are new each time the cluster is opened, and the default for objects", async () => {
    await using other = await openTestCluster();
    expect(other.namespace).toMatch(/^weir-test-test-cluster-[0-9a-f]{8}$/);
    expect(other.namespace).not.toBe(cluster.namespace);
    await cluster.apply(configMap("here"));
    await expect(other.kubectl(["get", "configmap", "here"])).rejects.toThrow("NotFound");
    expect(await cluster.kubectl(["get", "configmap", "here", "--output=jsonpath={.data.colour}"])).toBe("green");
  });

  test("are removed on close with all they contain, and with what was created outside of them", async () => {
    const other = await openTestCluster();
    const second = `${other.namespace}-second`;
    const role = {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: second },
      rules: [],
    };
    await other.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: second } }, role);
    await other.apply(configMap("there", second), configMap("here"));
    expect(await cluster.kubectl(["get", "configmap", "there"], { namespace: second })).toContain("there");
    await other.close();
    for (const each of [`namespace/${second}`, `namespace/${other.namespace}`, `clusterrole/${second}`])
      await expect(cluster.kubectl(["get", each], { namespace: null })).rejects.toThrow("NotFound");
    const left = await cluster.kubectl(["get", "configmaps", "--all-namespaces", "--output=name"], { namespace: null });
    expect(left).not.toContain("there");
  });
});

describe("an account", () => {
  test("may do with its own token what its role allows, and gets 403 for all else", async () => {
    const rbac = "rbac.authorization.k8s.io";
    await cluster.apply(
      { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "reader" } },
      {
        apiVersion: `${rbac}/v1`,
        kind: "Role",
        metadata: { name: "reader" },
        rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }],
      },
      {
        apiVersion: `${rbac}/v1`,
        kind: "RoleBinding",
        metadata: { name: "reader" },
        roleRef: { apiGroup: rbac, kind: "Role", name: "reader" },
        subjects: [{ kind: "ServiceAccount", name: "reader", namespace: cluster.namespace }],
      },
      configMap("readable"),
    );
    const { kubectl, token } = await cluster.account("reader");
    expect(token.split(".")).toHaveLength(3);
    expect(await kubectl(["get", "configmap", "readable", "--output=name"])).toBe("configmap/readable\n");

    const refused: readonly (readonly string[])[] = [
      ["get", "configmaps"],
      ["delete", "configmap", "readable"],
      ["get", "secrets"],
      ["get", "configmaps", "--all-namespaces"],
      ["get", "nodes"],
      ["create", "token", "reader"],
    ];
    for (const args of refused) await expect(kubectl(args), args.join(" ")).rejects.toThrow(/forbidden/i);
    await expect(kubectl(["get", "configmap", "readable"], { namespace: "default" })).rejects.toThrow(/forbidden/i);
  });

  test("that does not exist has no token", async () => {
    await expect(cluster.account("nobody")).rejects.toThrow("not found");
  });
});
