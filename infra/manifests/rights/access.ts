import { clusterRoleName, type Account, type RoleScope } from "../../../runtime/api/accounts.ts";
import { hasClusterKeys } from "../../../runtime/api/iam/cluster-keys.ts";
import { authorityManifests } from "../egress/trusted-authorities.ts";
import { issuerDiscoveryBinding } from "../iam/issuer-discovery.ts";
import { accountRights, type Rule } from "./account-rights.ts";
import type { KubernetesObject } from "../kubernetes-object.ts";
import { labelsOf } from "../names.ts";
import { functionGuard, namespaceGuards, ruleGuard } from "./namespace-guards.ts";
import type { Component } from "../platform-options.ts";
import type { Platform } from "../platform.ts";
import { accountAnnotations } from "../pods.ts";

const rbac = "rbac.authorization.k8s.io";

/**
 * Accounts, one ClusterRole per account and kind of namespace, and their bindings in the two initial namespaces; the
 * operator creates those in further namespaces of functions. The admission policies are included, and whom the
 * processes trust.
 */
export function accessManifests(platform: Platform): KubernetesObject[] {
  const rights = accountRights(platform);
  const roles = rights.flatMap(({ account, ...scopes }) =>
    (["platform", "functions", "cluster"] as const).flatMap((scope) =>
      scopes[scope].length === 0 ? [] : roleAndBinding(platform, account, scope, scopes[scope]),
    ),
  );
  return [
    ...rights.map(({ account }) => serviceAccount(platform, account)),
    ...roles,
    ...(Object.values(platform.iam.issuers).some(({ issInternal }) => hasClusterKeys(issInternal))
      ? [issuerDiscoveryBinding(platform.platformNamespace, "gateway-issuer-discovery")]
      : []),
    ...authorityManifests(platform),
    ...functionGuard(platform),
    ...ruleGuard(platform),
    ...(platform.manyNamespaces ? namespaceGuards(platform) : []),
  ];
}

const componentOf: Readonly<Record<Account, Component>> = {
  gateway: "gateway",
  "queue-worker": "queueWorker",
  "queue-doctor": "queueDoctor",
  autoscaler: "autoscaler",
  operator: "operator",
  history: "history",
};

function serviceAccount(platform: Platform, name: Account): KubernetesObject {
  const { platformNamespace: namespace } = platform;
  return {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name, namespace, labels: labelsOf(name), ...accountAnnotations(platform, componentOf[name]) },
    automountServiceAccountToken: false,
  };
}

function roleAndBinding(
  platform: Platform,
  account: Account,
  scope: RoleScope,
  rules: readonly Rule[],
): KubernetesObject[] {
  const name = clusterRoleName(platform.platformNamespace, account, scope);
  const labels = labelsOf(account);
  const role = { apiVersion: `${rbac}/v1`, kind: "ClusterRole", metadata: { name, labels }, rules };
  const bound = {
    apiVersion: `${rbac}/v1`,
    roleRef: { apiGroup: rbac, kind: "ClusterRole", name },
    subjects: [{ kind: "ServiceAccount", name: account, namespace: platform.platformNamespace }],
  };
  if (scope === "cluster") return [role, { ...bound, kind: "ClusterRoleBinding", metadata: { name, labels } }];
  const namespace = scope === "platform" ? platform.platformNamespace : platform.functionNamespace;
  return [role, { ...bound, kind: "RoleBinding", metadata: { name, namespace, labels } }];
}
