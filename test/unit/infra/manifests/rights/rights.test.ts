import { expect, test } from "vitest";

import { accountRights, type Rule } from "../../../../../infra/manifests/rights/account-rights.ts";
import { accessManifests } from "../../../../../infra/manifests/rights/access.ts";
import { readPlatform } from "../../../../../infra/manifests/read-platform.ts";
import { accounts, type Account } from "../../../../../runtime/api/accounts.ts";
import { rightsFiles } from "../../../../../scripts/rights/rights-files.ts";
import { staleAmong } from "../../../../../scripts/written-file.ts";
import { notEmpty } from "../../../../support/not-empty.ts";

const root = new URL("../../../../../", import.meta.url);
const rightsIn = (manyNamespaces: boolean) =>
  accountRights({ manyNamespaces, platformNamespace: "weir", history: true });
const everywhere = [false, true].flatMap((manyNamespaces) =>
  rightsIn(manyNamespaces).flatMap(({ account, platform, functions, cluster }) =>
    [...platform, ...functions, ...cluster].map((rule) => ({ account, rule })),
  ),
);

/** Accounts that may do one of `verbs` to `resource` anywhere. */
function about(resource: string, verbs: readonly string[], group: string): Account[] {
  return everywhere
    .filter(({ rule }) => rule.apiGroups.includes(group) && rule.resources.includes(resource))
    .filter(({ rule }) => rule.verbs.some((verb) => verbs.includes(verb)))
    .map(({ account }) => account);
}

test.each(Object.values(accounts))(
  "rights of %s equal the reviewed file; if not, review the change and run npm run rights",
  async (account) => {
    const own = (await rightsFiles()).filter(({ path }) => path.endsWith(`/rights-${account}.yaml`));
    expect(own).toHaveLength(1);
    expect(await staleAmong(own, root)).toEqual([]);
  },
);

const reads = ["get", "list", "watch"];
const writes = ["create", "update", "patch", "delete"];

test.each<[what: string, group: string, resource: string, verbs: readonly string[], who: readonly Account[]]>([
  ["read values of secrets", "", "secrets", reads, ["operator"]],
  ["follow values of secrets", "", "secrets", ["watch"], []],
  ["write values of secrets", "", "secrets", writes, ["gateway", "operator"]],
  ["make or delete secrets", "", "secrets", ["create", "update", "delete"], ["gateway"]],
  ["make, change or remove namespaces", "", "namespaces", writes, ["gateway"]],
  ["make or change pods", "", "pods", ["create", "update", "patch"], []],
  ["delete pods", "", "pods", ["delete"], ["queue-doctor"]],
  ["read logs", "", "pods/log", reads, ["gateway", "history"]],
  ["write Services", "", "services", writes, ["operator"]],
  ["write quotas", "", "resourcequotas", writes, ["operator"]],
  ["write Deployments", "apps", "deployments", writes, ["operator"]],
  ["write policies of the network", "networking.k8s.io", "networkpolicies", writes, ["operator"]],
  ["make or delete functions", "service.com", "functions", ["create", "update", "delete"], ["gateway"]],
  ["scale functions", "service.com", "functions/scale", ["patch"], ["gateway", "queue-worker", "autoscaler"]],
  ["write the status of functions", "service.com", "functions/status", writes, ["autoscaler", "operator"]],
  ["write Profiles", "service.com", "profiles", writes, []],
  ["write issuers", "iam.service.com", "jwtissuers", writes, []],
  ["write policies", "iam.service.com", "policies", writes, []],
  ["write roles", "iam.service.com", "roles", writes, []],
  ["read roles", "iam.service.com", "roles", reads, ["gateway", "operator"]],
  ["make roles", "rbac.authorization.k8s.io", "clusterroles", writes, []],
  ["hold leases", "coordination.k8s.io", "leases", ["update"], ["autoscaler", "operator"]],
])("who may %s", (_what, group, resource, verbs, who) => {
  expect(new Set(about(resource, verbs, group))).toEqual(new Set(who));
});

test("the queue-doctor may delete only the broker's pods, by name", () => {
  const pods = everywhere.filter(({ account, rule }) => account === "queue-doctor" && rule.resources.includes("pods"));
  const broker = ["nats-0", "nats-1", "nats-2"];
  // Editions with one namespace, and with several.
  expect(pods.map(({ rule }) => rule.resourceNames)).toEqual([broker, broker]);
});

test("the operator may write one Secret: the copies of those that functions name for their callbacks", () => {
  const rules = rightsIn(true).flatMap(({ account, platform, functions, cluster }) =>
    account === "operator" ? [...platform, ...functions, ...cluster] : [],
  );
  const writing = rules.filter(
    ({ apiGroups, resources, verbs }) =>
      apiGroups.includes("") && resources.includes("secrets") && verbs.some((verb) => writes.includes(verb)),
  );
  expect(writing).toEqual([
    { apiGroups: [""], resources: ["secrets"], verbs: ["get", "patch"], resourceNames: ["callback-secrets"] },
  ]);
});

test("there is no wildcard, and no right that leads to more rights", () => {
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

test("only the operator binds: the roles of function namespaces, by name", () => {
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
          "weir-history-functions",
        ],
      },
    },
  ]);
});

test("there is one role per account and kind of namespace, bound to that account alone", () => {
  const objects = accessManifests(readPlatform({ platformNamespace: "faas", functionNamespace: "fn", edition: "pro" }));
  const bindings = objects.filter(({ kind }) => kind === "RoleBinding" || kind === "ClusterRoleBinding");
  const roles = objects.filter(({ kind }) => kind === "ClusterRole");
  expect(bindings.map(({ metadata }) => metadata.name).toSorted()).toEqual(
    roles.map(({ metadata }) => metadata.name).toSorted(),
  );
  for (const { metadata, ...binding } of notEmpty(bindings, "binding")) {
    const [, account = "", scope = ""] = /^faas-(.*)-(platform|functions|cluster)$/.exec(metadata.name) ?? [];
    expect(binding["subjects"]).toEqual([{ kind: "ServiceAccount", name: account, namespace: "faas" }]);
    expect(binding["roleRef"]).toMatchObject({ kind: "ClusterRole", name: metadata.name });
    expect(metadata.namespace).toBe({ platform: "faas", functions: "fn", cluster: undefined }[scope]);
  }
});

test("rights to read in the whole cluster are to list and watch, and never core secrets", () => {
  const rights = rightsIn(true);
  for (const { account, functions, cluster } of notEmpty(rights, "account")) {
    const inFunctions = functions.flatMap(({ apiGroups, resources }) =>
      resources.map((each) => `${apiGroups[0]}/${each}`),
    );
    for (const { apiGroups, resources, verbs } of cluster) {
      const isFollowed = verbs.join() === "list,watch";
      for (const resource of resources) {
        const what = `${apiGroups[0]}/${resource}`;
        expect(what, account).not.toBe("/secrets");
        if (isFollowed && what !== "/namespaces") expect(inFunctions, account).toContain(what);
      }
    }
  }
});

test("an edition with one namespace gives nobody a right to write in the whole cluster", () => {
  for (const { cluster } of rightsIn(false))
    expect(cluster.flatMap(({ verbs }: Rule) => verbs).filter((verb) => !/^(?:get|list|watch)$/.test(verb))).toEqual(
      [],
    );
});
