import { accountsInFunctionNamespaces, clusterRoleName } from "../../../../../runtime/api/accounts.ts";
import { describe, expect, test } from "vitest";

import {
  defaultNamespaceSettings,
  namespaceObjects,
  type RoleBindingObject,
} from "../../../../../runtime/adapters/kubernetes/manifests/namespace-objects.ts";
import { networkPolicies } from "../../../../../runtime/adapters/kubernetes/manifests/network-policies.ts";

const settings = defaultNamespaceSettings("weir");
const kinds = (over: Partial<typeof settings>) =>
  namespaceObjects("dev", { ...settings, ...over }).map(({ kind, metadata }) => `${kind} ${metadata.name}`);

test("policies come before anything that runs, rights before what needs them", () => {
  const policies = ["deny", "calls", "dns", "gateway", "internet"].map((name) => `NetworkPolicy weir-${name}`);

  expect(kinds({})).toEqual([...policies, "LimitRange weir", "ResourceQuota weir"]);
  expect(kinds({ bindAccounts: true, quota: {}, limits: {}, requests: {} })).toEqual([
    ...accountsInFunctionNamespaces.map((account) => `RoleBinding ${clusterRoleName("weir", account, "functions")}`),
    ...policies,
  ]);
});

test("every object is marked as Weir's and is in the namespace", () => {
  for (const { metadata } of namespaceObjects("dev", { ...settings, bindAccounts: true })) {
    expect(metadata).toMatchObject({ namespace: "dev", labels: { "app.kubernetes.io/managed-by": "weir" } });
  }
});

test("Internet access excludes the ranges of the cluster and of metadata services, each in its own family", () => {
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

describe("policies, each for all pods of the namespace", () => {
  const anyOf = (process: string) => ({
    namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "weir" } },
    podSelector: { matchLabels: { "app.kubernetes.io/name": process } },
  });
  const http = [{ protocol: "TCP", port: 8080 }];

  test.each<[name: string, about: string, spec: object]>([
    ["deny", "nothing in or out that no other says", { policyTypes: ["Ingress", "Egress"] }],
    [
      "calls",
      "from gateway and queue-worker of this platform, to the function's port",
      { policyTypes: ["Ingress"], ingress: [{ from: [anyOf("gateway"), anyOf("queue-worker")], ports: http }] },
    ],
    [
      "dns",
      "to the cluster's DNS and the cache on the node, at their port",
      {
        policyTypes: ["Egress"],
        egress: [
          {
            to: [
              { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "kube-system" } } },
              { ipBlock: { cidr: "169.254.20.10/32" } },
            ],
            ports: [
              { protocol: "UDP", port: 53 },
              { protocol: "TCP", port: 53 },
            ],
          },
        ],
      },
    ],
    [
      "gateway",
      "to the gateway of this platform, at its port",
      { policyTypes: ["Egress"], egress: [{ to: [anyOf("gateway")], ports: http }] },
    ],
    [
      "internet",
      "to the Internet, except all private ranges and metadata services",
      {
        policyTypes: ["Egress"],
        egress: [
          {
            to: [
              {
                ipBlock: {
                  cidr: "0.0.0.0/0",
                  except: [
                    "10.0.0.0/8",
                    "100.100.100.200/32",
                    "100.64.0.0/10",
                    "168.63.129.16/32",
                    "169.254.0.0/16",
                    "172.16.0.0/12",
                    "192.0.0.192/32",
                    "192.168.0.0/16",
                  ],
                },
              },
              { ipBlock: { cidr: "::/0", except: ["fc00::/7", "fd00:ec2::254/128", "fe80::/10"] } },
            ],
          },
        ],
      },
    ],
  ])("weir-%s: %s", (name, _about, spec) => {
    const policy = networkPolicies("dev", settings).find(({ metadata }) => metadata.name === `weir-${name}`);
    expect(policy?.spec).toEqual({ podSelector: {}, ...spec });
  });
});

const specOf = (kind: string): unknown => {
  const object = namespaceObjects("dev", settings).find((one) => one.kind === kind);
  return object !== undefined && "spec" in object ? object.spec : undefined;
};

test("a container without limits or requests gets them", () => {
  expect(specOf("LimitRange")).toEqual({
    limits: [
      {
        type: "Container",
        default: { cpu: "1", memory: "512Mi", "ephemeral-storage": "1Gi" },
        defaultRequest: { cpu: "50m", memory: "64Mi", "ephemeral-storage": "64Mi" },
      },
    ],
  });
});

test("a namespace allows no disks, load balancers or node ports, and a limited number of pods", () => {
  expect(specOf("ResourceQuota")).toEqual({
    hard: { pods: "1k", persistentvolumeclaims: "0", "services.loadbalancers": "0", "services.nodeports": "0" },
  });
});

test.each(accountsInFunctionNamespaces)(
  "account %s of this platform is bound to its own role, and to no other",
  (account) => {
    const name = `weir-${account}-functions`;
    const bindings = namespaceObjects("dev", { ...settings, bindAccounts: true })
      .filter((object): object is RoleBindingObject => object.kind === "RoleBinding")
      .filter(({ subjects }) => subjects.some((subject) => subject.name === account));
    expect(bindings).toEqual([
      {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "RoleBinding",
        metadata: { name, namespace: "dev", labels: { "app.kubernetes.io/managed-by": "weir" } },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
        subjects: [{ kind: "ServiceAccount", name: account, namespace: "weir" }],
      },
    ]);
  },
);
