import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { accountRights, type Rule } from "../../../infra/manifests/rights/account-rights.ts";
import { accessManifests } from "../../../infra/manifests/rights/access.ts";
import { readPlatform } from "../../../infra/manifests/read-platform.ts";
import { accounts, type Account } from "../../../runtime/api/accounts.ts";
import { namespaceMarker, objectLabel } from "../../../runtime/api/names.ts";
import { requestsAs, type ClusterAnswer, type ClusterRequest } from "../../support/account-requests.ts";
import { eventually } from "../../support/eventually.ts";
import { openTestCluster, type TestCluster } from "../../support/test-cluster.ts";

let cluster: TestCluster;
/** Namespaces: the one of functions, another one with the marker, and a foreign one. */
let functions: string;
let marked: string;
let foreign: string;
const senders = new Map<Account, (request: ClusterRequest) => Promise<ClusterAnswer>>();

const rbac = "rbac.authorization.k8s.io";
const versions = new Map([
  ["metrics.k8s.io", "v1beta1"],
  ["", "v1"],
]);
const markerLabels = { [namespaceMarker.key]: namespaceMarker.value };

beforeAll(async () => {
  cluster = await openTestCluster();
  functions = `${cluster.namespace}-fn`;
  marked = `${cluster.namespace}-marked`;
  foreign = `${cluster.namespace}-foreign`;
  const platform = readPlatform({
    edition: "pro",
    platformNamespace: cluster.namespace,
    functionNamespace: functions,
    createNamespaces: false,
  });
  const namespace = (name: string, labels = {}) => ({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name, labels },
  });
  const ours = { ...markerLabels, [objectLabel.platform]: cluster.namespace };
  await cluster.apply(namespace(functions, ours), namespace(marked, ours), namespace(foreign));
  await cluster.apply(...accessManifests(platform));
  for (const account of Object.values(accounts)) {
    const { token } = await cluster.account(account);
    senders.set(account, requestsAs(cluster, token));
  }
  await policiesEnforced();
});
afterAll(() => cluster?.close());

const enforced = { "pod-security.kubernetes.io/enforce": "restricted" };

/** Waits for the policies, which the API server enforces some moments after their creation. */
async function policiesEnforced(): Promise<void> {
  for (const [account, request] of [
    [accounts.gateway, newNamespace(`${cluster.namespace}-none`)],
    [accounts.operator, newQuota(foreign)],
    [accounts.operator, newBinding(marked, "operator", [{ ...subject("gateway"), namespace: foreign }])],
  ] as const)
    await eventually(async () => (await as(account, request)).status === 403, {
      what: "the policy for what an account may touch to be enforced",
    });
}

async function as(account: Account, request: ClusterRequest): Promise<ClusterAnswer> {
  const send = senders.get(account);
  if (send === undefined) throw new Error(`no account "${account}"`);
  return send(request);
}

function root(group: string): string {
  const version = versions.get(group) ?? "v1";
  return group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
}

function requestOf(rule: Rule, resource: string, verb: string, namespace: string | undefined): ClusterRequest {
  const [group = ""] = rule.apiGroups;
  const [plural = "", subresource] = resource.split("/");
  const place = namespace === undefined ? "" : `/namespaces/${namespace}`;
  const all = `${root(group)}${place}/${plural}`;
  const one = `${all}/${rule.resourceNames?.[0] ?? "some"}${subresource === undefined ? "" : `/${subresource}`}`;
  switch (verb) {
    case "get":
      return { method: "GET", path: one };
    case "list":
      return { method: "GET", path: all };
    case "watch":
      return { method: "GET", path: `${all}?watch=true&timeoutSeconds=1` };
    case "create":
      return { method: "POST", path: `${all}?dryRun=All`, body: { metadata: { name: "some", labels: markerLabels } } };
    case "update":
      return { method: "PUT", path: `${one}?dryRun=All`, body: { metadata: { name: "some" } } };
    case "patch":
      return { method: "PATCH", path: `${one}?dryRun=All`, body: { metadata: { labels: { a: "b" } } } };
    case "delete":
      return { method: "DELETE", path: `${one}?dryRun=All` };
    default:
      throw new Error(`no request for verb "${verb}"`);
  }
}

function readsOf(rules: readonly Rule[]): Rule[] {
  return rules.map((rule) => ({ ...rule, verbs: rule.verbs.filter((verb) => /^(?:get|list|watch)$/.test(verb)) }));
}

function newNamespace(name: string, labels: Readonly<Record<string, string>> = {}): ClusterRequest {
  const body = { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } };
  return { method: "POST", path: "/api/v1/namespaces?dryRun=All", body };
}

function newQuota(namespace: string): ClusterRequest {
  const body = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "weir" }, spec: { hard: { pods: "10" } } };
  return { method: "POST", path: `/api/v1/namespaces/${namespace}/resourcequotas?dryRun=All`, body };
}

function subject(name: string) {
  return { kind: "ServiceAccount", name, namespace: cluster.namespace };
}

function newBinding(namespace: string, account: string, subjects: readonly object[], role?: string): ClusterRequest {
  const name = role ?? `${cluster.namespace}-${account}-functions`;
  const body = {
    apiVersion: `${rbac}/v1`,
    kind: "RoleBinding",
    metadata: { name },
    roleRef: { apiGroup: rbac, kind: "ClusterRole", name },
    subjects,
  };
  return { method: "POST", path: `/apis/${rbac}/v1/namespaces/${namespace}/rolebindings?dryRun=All`, body };
}

describe.each(Object.values(accounts))("%s", (account) => {
  test("may do with its own token all that its process needs", async () => {
    const platform = { manyNamespaces: true, platformNamespace: cluster.namespace, history: true };
    const own = accountRights(platform).find((rights) => rights.account === account);
    const places = [
      [own?.platform ?? [], cluster.namespace],
      [own?.functions ?? [], functions],
      // Writing across the cluster is restricted; see below.
      [readsOf(own?.cluster ?? []), undefined],
    ] as const;
    const requests = places.flatMap(([rules, namespace]) =>
      rules.flatMap((rule) =>
        rule.resources.flatMap((resource) => rule.verbs.map((verb) => requestOf(rule, resource, verb, namespace))),
      ),
    );
    const responses = await Promise.all(
      requests.map(async (request) => ({ request, response: await as(account, request) })),
    );
    const refused = responses
      .filter(({ response: { status } }) => status === 401 || status === 403)
      .map(({ request: { method, path }, response: { message } }) => `${method} ${path}: ${message}`);
    expect(refused).toEqual([]);
  });

  test("is refused escalation: exec, tokens, nodes, other accounts, roles, everybody's secrets", async () => {
    const inNamespaces = [cluster.namespace, functions, foreign].flatMap((namespace): ClusterRequest[] => [
      { method: "POST", path: `/api/v1/namespaces/${namespace}/pods/some/exec?command=sh` },
      { method: "POST", path: `/api/v1/namespaces/${namespace}/pods/some/portforward` },
      { method: "POST", path: `/api/v1/namespaces/${namespace}/pods?dryRun=All`, body: { metadata: { name: "some" } } },
      { method: "POST", path: `/api/v1/namespaces/${namespace}/serviceaccounts/default/token`, body: {} },
      { method: "PATCH", path: `/api/v1/namespaces/${namespace}/serviceaccounts/default?dryRun=All`, body: {} },
      {
        method: "POST",
        path: `/apis/${rbac}/v1/namespaces/${namespace}/roles?dryRun=All`,
        body: { metadata: { name: "some" } },
      },
    ]);
    const requests: ClusterRequest[] = [
      ...inNamespaces,
      { method: "GET", path: "/api/v1/nodes" },
      { method: "GET", path: "/api/v1/nodes/some/proxy/" },
      { method: "GET", path: "/api/v1/secrets" },
      { method: "GET", path: `/api/v1/namespaces/${cluster.namespace}/secrets` },
      { method: "GET", path: `/api/v1/namespaces/${cluster.namespace}/secrets/basic-auth` },
      { method: "GET", path: `/api/v1/namespaces/${foreign}/secrets` },
      { method: "GET", path: `/apis/${rbac}/v1/clusterroles` },
      { method: "POST", path: `/apis/${rbac}/v1/clusterrolebindings?dryRun=All`, body: { metadata: { name: "some" } } },
      { method: "PATCH", path: `/apis/${rbac}/v1/clusterroles/cluster-admin?dryRun=All`, body: {} },
      newNamespace("kube-some", markerLabels),
      newNamespace(`${cluster.namespace}-plain`),
      { method: "DELETE", path: "/api/v1/namespaces/default?dryRun=All" },
      { method: "DELETE", path: `/api/v1/namespaces/${foreign}?dryRun=All` },
      { method: "DELETE", path: `/api/v1/namespaces/${cluster.namespace}?dryRun=All` },
    ];
    const allowed: string[] = [];
    for (const request of requests) {
      const { status } = await as(account, request);
      if (status !== 403) allowed.push(`${request.method} ${request.path}: ${status}`);
    }
    expect(allowed).toEqual([]);
  });
});

test.each<[path: string, who: readonly Account[]]>([
  ["/apis/service.com/v1/functions", ["gateway", "queue-worker", "autoscaler", "operator"]],
  ["/apis/discovery.k8s.io/v1/endpointslices", ["gateway", "queue-worker", "autoscaler"]],
  ["/apis/service.com/v1/secrets", ["operator"]],
  ["/apis/apps/v1/deployments", ["operator"]],
  ["/api/v1/services", ["operator"]],
  ["/api/v1/pods", ["operator", "history"]],
  ["/api/v1/secrets", []],
  ["/api/v1/configmaps", []],
])("%s of the whole cluster may be watched by %j", async (path, who) => {
  const may = async (account: Account): Promise<boolean> =>
    (await as(account, { method: "GET", path: `${path}?watch=true&timeoutSeconds=1` })).status === 200;
  const allowed: Account[] = [];
  for (const account of Object.values(accounts)) if (await may(account)) allowed.push(account);
  expect(allowed.toSorted()).toEqual(who.toSorted());
});

describe("gateway", () => {
  test("writes secrets that it cannot read", async () => {
    const all = `/api/v1/namespaces/${functions}/secrets`;
    const body = { metadata: { name: "token" }, stringData: { token: "x" } };
    expect(await as("gateway", { method: "POST", path: all, body })).toMatchObject({ status: 201 });
    expect(await as("gateway", { method: "GET", path: `${all}/token` })).toMatchObject({ status: 403 });
    expect(await as("gateway", { method: "GET", path: all })).toMatchObject({ status: 403 });
    const updated = { ...body, stringData: { token: "y" } };
    expect(await as("gateway", { method: "PUT", path: `${all}/token`, body: updated })).toMatchObject({ status: 200 });
    expect(await as("gateway", { method: "DELETE", path: `${all}/token` })).toMatchObject({ status: 200 });
  });

  test("creates, changes and deletes only namespaces with the marker", async () => {
    const made = await as("gateway", newNamespace(`${cluster.namespace}-new`, { ...markerLabels, ...enforced }));
    expect(made).toMatchObject({ status: 201 });
    const change = (name: string): ClusterRequest => ({
      method: "PUT",
      path: `/api/v1/namespaces/${name}?dryRun=All`,
      body: { metadata: { name, labels: markerLabels } },
    });
    expect(await as("gateway", change(marked))).toMatchObject({ status: 200 });
    expect((await as("gateway", change(foreign))).message).toContain("with the marker of Weir, of its platform, only");
    const remove = (name: string): ClusterRequest => ({
      method: "DELETE",
      path: `/api/v1/namespaces/${name}?dryRun=All`,
    });
    expect(await as("gateway", remove(marked))).toMatchObject({ status: 200 });
    expect((await as("gateway", remove(foreign))).message).toContain("with the marker of Weir, of its platform, only");
    const others = { ...markerLabels, "service.com/platform": "another" };
    const ofAnother = await as("gateway", newNamespace(`${cluster.namespace}-others`, others));
    expect(ofAnother.message).toContain("of its platform");
    const reserved = await as("gateway", newNamespace("kube-some", { ...markerLabels, ...enforced }));
    expect(reserved.message).toContain("is reserved");
  });

  test("creates namespaces of the pod security level restricted, and never changes that level", async () => {
    const name = `${cluster.namespace}-strict`;
    const level = (mode: string, value: string) => ({ [`pod-security.kubernetes.io/${mode}`]: value });
    for (const labels of [
      {},
      level("enforce", "baseline"),
      { ...enforced, ...level("warn", "privileged") },
      { ...enforced, ...level("enforce-version", "v1.20") },
    ]) {
      const response = await as("gateway", newNamespace(name, { ...markerLabels, ...labels }));
      expect([response.status, response.message]).toEqual([403, expect.stringContaining("level restricted only")]);
    }
    const strict = { ...markerLabels, ...enforced, ...level("enforce-version", "latest") };
    expect(await as("gateway", newNamespace(name, strict))).toMatchObject({ status: 201 });

    await cluster.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name, labels: strict } });
    const change = (labels: Readonly<Record<string, string>>) =>
      as("gateway", {
        method: "PUT",
        path: `/api/v1/namespaces/${name}?dryRun=All`,
        body: { metadata: { name, labels } },
      });
    expect(await change({ ...strict, team: "blue" })).toMatchObject({ status: 200 });
    for (const labels of [
      markerLabels,
      { ...strict, ...level("enforce", "privileged") },
      { ...strict, ...level("enforce-version", "v1.20") },
      { ...strict, ...level("audit", "privileged") },
    ]) {
      const response = await change(labels);
      expect([response.status, response.message]).toEqual([
        403,
        expect.stringContaining("levels of namespaces as they are"),
      ]);
    }
  });

  test("neither gets nor writes objects in a namespace without a binding, marked or not", async () => {
    for (const namespace of [marked, foreign]) {
      const path = `/apis/service.com/v1/namespaces/${namespace}/functions`;
      expect(await as("gateway", { method: "GET", path: `${path}/some` })).toMatchObject({ status: 403 });
      const body = { metadata: { name: "some" }, spec: { image: "some" } };
      expect(await as("gateway", { method: "POST", path: `${path}?dryRun=All`, body })).toMatchObject({ status: 403 });
    }
  });
});

describe("operator", () => {
  test("reads core secrets of functions but may not watch them", async () => {
    const path = `/api/v1/namespaces/${functions}/secrets`;
    expect(await as("operator", { method: "GET", path })).toMatchObject({ status: 200 });
    const watch = `${path}?watch=true&timeoutSeconds=1`;
    expect(await as("operator", { method: "GET", path: watch })).toMatchObject({ status: 403 });
  });

  test("binds only accounts of the platform, only to their roles, only in namespaces with the marker", async () => {
    for (const account of ["gateway", "queue-worker", "autoscaler", "operator", "history"])
      expect(await as("operator", newBinding(marked, account, [subject(account)]))).toMatchObject({ status: 201 });

    const inForeign = await as("operator", newBinding(foreign, "gateway", [subject("gateway")]));
    expect(inForeign.message).toContain("with the marker of Weir, of its platform, only");
    const inPlatform = await as("operator", newBinding(cluster.namespace, "gateway", [subject("gateway")]));
    expect(inPlatform.message).toContain("with the marker of Weir, of its platform, only");
    const stranger = { ...subject("default"), namespace: foreign };
    const toStranger = await as("operator", newBinding(marked, "gateway", [subject("gateway"), stranger]));
    expect(toStranger.message).toContain("accounts of the platform only");
    for (const role of [
      "cluster-admin",
      "edit",
      `${cluster.namespace}-operator-cluster`,
      `${cluster.namespace}-operator-platform`,
    ])
      expect(await as("operator", newBinding(marked, "", [subject("operator")], role)), role).toMatchObject({
        status: 403,
      });
  });

  test("creates quotas only in namespaces with the marker", async () => {
    expect(await as("operator", newQuota(marked))).toMatchObject({ status: 201 });
    expect(await as("operator", newQuota(functions))).toMatchObject({ status: 201 });
    for (const namespace of [foreign, cluster.namespace, "kube-system"])
      expect((await as("operator", newQuota(namespace))).message).toContain(
        "with the marker of Weir, of its platform, only",
      );
  });
});

test("history reads logs of functions, and nothing else of them or of the platform", async () => {
  const get = (path: string) => as("history", { method: "GET", path });
  expect(await get(`/api/v1/namespaces/${functions}/pods`)).toMatchObject({ status: 200 });
  expect(await get(`/api/v1/namespaces/${functions}/pods/some/log`)).toMatchObject({ status: 404 });
  for (const path of [
    `/api/v1/namespaces/${cluster.namespace}/pods/some/log`,
    `/api/v1/namespaces/${marked}/pods/some/log`,
    `/api/v1/namespaces/${functions}/secrets`,
    `/api/v1/namespaces/${functions}/pods/some`,
  ])
    expect(await get(path), path).toMatchObject({ status: 403 });
  const remove: ClusterRequest = { method: "DELETE", path: `/api/v1/namespaces/${functions}/pods/some?dryRun=All` };
  expect(await as("history", remove)).toMatchObject({ status: 403 });
});

test("queue-doctor ends pods of the broker and no others", async () => {
  const pod = (name: string): ClusterRequest => ({
    method: "DELETE",
    path: `/api/v1/namespaces/${cluster.namespace}/pods/${name}?dryRun=All`,
  });
  for (const name of ["nats-0", "nats-1", "nats-2"])
    expect(await as("queue-doctor", pod(name))).toMatchObject({ status: 404 });
  for (const name of ["nats-3", "gateway-0"])
    expect(await as("queue-doctor", pod(name))).toMatchObject({ status: 403 });
});
