import { accounts } from "../../../runtime/api/accounts.ts";
import type { KubernetesObject } from "../kubernetes-object.ts";
import { labelsOf } from "../names.ts";

const rbac = "rbac.authorization.k8s.io";

/** Lets the gateway's account read the keys that the API server signs tokens of service accounts with. */
export function issuerDiscoveryBinding(platformNamespace: string, name: string): KubernetesObject {
  return {
    apiVersion: `${rbac}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name: `${platformNamespace}-${name}`, labels: labelsOf(accounts.gateway) },
    roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "system:service-account-issuer-discovery" },
    subjects: [{ kind: "ServiceAccount", name: accounts.gateway, namespace: platformNamespace }],
  };
}
