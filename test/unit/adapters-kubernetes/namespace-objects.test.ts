import { accountsInFunctionNamespaces, clusterRoleName } from "../../../runtime/api/accounts.ts";
import { expect, test } from "vitest";

import {
  defaultNamespaceSettings,
  namespaceObjects,
} from "../../../runtime/adapters/kubernetes/manifests/namespace-objects.ts";
import { networkPolicies } from "../../../runtime/adapters/kubernetes/manifests/network-policies.ts";

const settings = defaultNamespaceSettings("weir");
const kinds = (over: Partial<typeof settings>) =>
  namespaceObjects("dev", { ...settings, ...over }).map(({ kind, metadata }) => `${kind} ${metadata.name}`);

test("policies come before anything may run, rights before what needs them", () => {
  const policies = ["deny", "calls", "dns", "gateway", "internet"].map((name) => `NetworkPolicy weir-${name}`);

  expect(kinds({})).toEqual([...policies, "LimitRange weir", "ResourceQuota weir"]);
  expect(kinds({ bindAccounts: true, quota: {}, limits: {}, requests: {} })).toEqual([
    ...accountsInFunctionNamespaces.map((account) => `RoleBinding ${clusterRoleName("weir", account, "functions")}`),
    ...policies,
  ]);
});

test("everything is marked as ours and lies in the namespace", () => {
  for (const { metadata } of namespaceObjects("dev", { ...settings, bindAccounts: true })) {
    expect(metadata).toMatchObject({ namespace: "dev", labels: { "app.kubernetes.io/managed-by": "weir" } });
  }
});

test("of the Internet no range is allowed that is the cluster's or a metadata service's, each in its own family", () => {
  const policies = networkPolicies("dev", { ...settings, clusterRanges: ["10.0.0.0/8", "fd00::/8", "10.0.0.0/8"] });
  const internet = policies.find(({ metadata }) => metadata.name === "weir-internet");

  expect(internet?.spec.egress).toEqual([
    {
      to: [
        {
          ipBlock: {
            cidr: "0.0.0.0/0",
            except: ["10.0.0.0/8", "100.100.100.200/32", "168.63.129.16/32", "169.254.0.0/16", "192.0.0.192/32"],
          },
        },
        { ipBlock: { cidr: "::/0", except: ["fd00::/8", "fd00:ec2::254/128", "fe80::/10"] } },
      ],
    },
  ]);
});

test("nobody but gateway and queue-worker of this platform comes in", () => {
  const rules = networkPolicies("dev", settings).flatMap(({ spec }) => spec.ingress ?? []);

  expect(rules).toHaveLength(1);
  expect(rules[0]?.from?.map(({ namespaceSelector, podSelector }) => [namespaceSelector, podSelector])).toEqual(
    ["gateway", "queue-worker"].map((process) => [
      { matchLabels: { "kubernetes.io/metadata.name": "weir" } },
      { matchLabels: { "app.kubernetes.io/name": process } },
    ]),
  );
});
