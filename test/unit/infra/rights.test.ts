import { expect, test } from "vitest";

import { accountRights, type Rule } from "../../../infra/manifests/account-rights.ts";
import { accessManifests } from "../../../infra/manifests/access.ts";
import { readPlatform } from "../../../infra/manifests/read-platform.ts";
import { rightsFiles } from "../../../scripts/rights/rights-files.ts";
import { staleAmong } from "../../../scripts/written-file.ts";

const root = new URL("../../../", import.meta.url);
const everywhere = [false, true].flatMap((manyNamespaces) =>
  accountRights({ manyNamespaces, platformNamespace: "weir" }).flatMap(({ account, platform, functions, cluster }) =>
    [...platform, ...functions, ...cluster].map((rule) => ({ account, rule })),
  ),
);

test("the rights of each account are those of its golden file; else judge the change and run npm run rights", async () => {
  expect((await staleAmong(await rightsFiles(), root)).map(({ path }) => path)).toEqual([]);
});

test("no wildcard, and nothing that leads to more rights", () => {
  for (const { rule } of everywhere) {
    const words = [...rule.apiGroups, ...rule.resources, ...rule.verbs, ...(rule.resourceNames ?? [])];
    expect(words.filter((word) => word.includes("*"))).toEqual([]);
    expect(rule.verbs).not.toContain("escalate");
    expect(rule.verbs).not.toContain("impersonate");
    expect(rule.verbs).not.toContain("deletecollection");
    for (const resource of ["pods/exec", "pods/attach", "nodes/proxy", "serviceaccounts/token"])
      expect(rule.resources).not.toContain(resource);
    if (rule.resources.includes("serviceaccounts")) expect(rule.verbs).toEqual(["get"]);
  }
});

test("only the operator reads secrets, and only it binds: the roles of function namespaces, by name", () => {
  const about = (resource: string, verbs: readonly string[], group: string) =>
    everywhere
      .filter(({ rule }) => rule.apiGroups.includes(group) && rule.resources.includes(resource))
      .filter(({ rule }) => rule.verbs.some((verb) => verbs.includes(verb)))
      .map(({ account }) => account);
  expect(new Set(about("secrets", ["get", "list", "watch"], ""))).toEqual(new Set(["operator"]));
  expect(new Set(about("rolebindings", ["create", "patch", "update"], "rbac.authorization.k8s.io"))).toEqual(
    new Set(["operator"]),
  );
  const binding = everywhere.filter(({ rule }) => rule.verbs.includes("bind"));
  expect(binding).toEqual([
    {
      account: "operator",
      rule: {
        apiGroups: ["rbac.authorization.k8s.io"],
        resources: ["clusterroles"],
        verbs: ["bind"],
        resourceNames: [
          "weir-operator-functions",
          "weir-gateway-functions",
          "weir-queue-worker-functions",
          "weir-autoscaler-functions",
        ],
      },
    },
  ]);
});

test("one role per account and kind of namespace, each bound to that account alone", () => {
  const objects = accessManifests(readPlatform({ platformNamespace: "faas", functionNamespace: "fn", edition: "pro" }));
  const bindings = objects.filter(({ kind }) => kind === "RoleBinding" || kind === "ClusterRoleBinding");
  const roles = objects.filter(({ kind }) => kind === "ClusterRole");
  expect(bindings.map(({ metadata }) => metadata.name).toSorted()).toEqual(
    roles.map(({ metadata }) => metadata.name).toSorted(),
  );
  for (const { metadata, ...binding } of bindings) {
    const [, account = "", scope = ""] = /^faas-(.*)-(platform|functions|cluster)$/.exec(metadata.name) ?? [];
    expect(binding["subjects"]).toEqual([{ kind: "ServiceAccount", name: account, namespace: "faas" }]);
    expect(binding["roleRef"]).toMatchObject({ kind: "ClusterRole", name: metadata.name });
    expect(metadata.namespace).toBe({ platform: "faas", functions: "fn", cluster: undefined }[scope]);
  }
});

test("an edition with one namespace gives nobody a right to write in the whole cluster", () => {
  for (const { cluster } of accountRights({ manyNamespaces: false, platformNamespace: "weir" }))
    expect(cluster.flatMap(({ verbs }: Rule) => verbs).filter((verb) => !/^(?:get|list|watch)$/.test(verb))).toEqual(
      [],
    );
});
