import { accountsInFunctionNamespaces, clusterRoleName, type Account } from "../../../api/accounts.ts";
import { managedByWeir, objectLabel } from "../../../api/names.ts";
import { nodeDnsRanges } from "../../../api/resolver-addresses.ts";
import { networkPolicies, privateRanges, type NetworkSettings } from "./network-policies.ts";
import type { NamedObject } from "./object-types.ts";

type Amounts = Readonly<Record<string, string>>;

/** What a function namespace gets. */
export interface NamespaceSettings extends NetworkSettings {
  /** Upper bound of each resource in the namespace; empty = no quota. */
  readonly quota: Amounts;
  /** Defaults for a container that names no limit, or no request. */
  readonly limits: Amounts;
  readonly requests: Amounts;
  /** Whether the operator binds the platform's accounts here, as in editions with many namespaces. */
  readonly bindAccounts: boolean;
}

/** The defaults for a platform in `platformNamespace`. */
export function defaultNamespaceSettings(platformNamespace: string): NamespaceSettings {
  return {
    platformNamespace,
    clusterRanges: privateRanges,
    dnsRanges: nodeDnsRanges,
    // Functions are pods behind a Service, and nothing else.
    quota: {
      // As the API server writes it: a value that differs would be applied again.
      pods: "1k",
      persistentvolumeclaims: "0",
      "services.loadbalancers": "0",
      "services.nodeports": "0",
    },
    limits: { cpu: "1", memory: "512Mi", "ephemeral-storage": "1Gi" },
    requests: { cpu: "50m", memory: "64Mi", "ephemeral-storage": "64Mi" },
    bindAccounts: false,
  };
}

/**
 * All objects that the operator makes in a function namespace, in the order to make them in: rights before what needs
 * them, network policies before anything may run.
 */
export function namespaceObjects(namespace: string, settings: NamespaceSettings): readonly NamedObject[] {
  const { bindAccounts, quota, limits, requests } = settings;
  return [
    ...(bindAccounts ? accountsInFunctionNamespaces.map((account) => roleBinding(namespace, settings, account)) : []),
    ...networkPolicies(namespace, settings),
    ...(Object.keys(limits).length + Object.keys(requests).length === 0
      ? []
      : [limitRange(namespace, limits, requests)]),
    ...(Object.keys(quota).length === 0 ? [] : [resourceQuota(namespace, quota)]),
  ];
}

/** A RoleBinding as we make it. */
export interface RoleBindingObject extends NamedObject {
  readonly roleRef: { readonly apiGroup: string; readonly kind: string; readonly name: string };
  readonly subjects: readonly { readonly kind: string; readonly name: string; readonly namespace: string }[];
}

function roleBinding(namespace: string, { platformNamespace }: NamespaceSettings, account: Account): RoleBindingObject {
  const name = clusterRoleName(platformNamespace, account, "functions");
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: metadata(namespace, name),
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
    subjects: [{ kind: "ServiceAccount", name: account, namespace: platformNamespace }],
  };
}

/** A LimitRange as we make it. */
export interface LimitRangeObject extends NamedObject {
  readonly spec: {
    readonly limits: readonly { readonly type: string; readonly default: Amounts; readonly defaultRequest: Amounts }[];
  };
}

function limitRange(namespace: string, limits: Amounts, requests: Amounts): LimitRangeObject {
  return {
    apiVersion: "v1",
    kind: "LimitRange",
    metadata: metadata(namespace, "weir"),
    spec: { limits: [{ type: "Container", default: limits, defaultRequest: requests }] },
  };
}

/** A ResourceQuota as we make it. */
export interface ResourceQuotaObject extends NamedObject {
  readonly spec: { readonly hard: Amounts };
}

function resourceQuota(namespace: string, hard: Amounts): ResourceQuotaObject {
  return { apiVersion: "v1", kind: "ResourceQuota", metadata: metadata(namespace, "weir"), spec: { hard } };
}

function metadata(namespace: string, name: string): NamedObject["metadata"] {
  return { name, namespace, labels: { [objectLabel.managedBy]: managedByWeir } };
}
