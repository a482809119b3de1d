import { accounts } from "../../../runtime/api/accounts.ts";
import type { KubernetesObject } from "../kubernetes-object.ts";
import { labelsOf } from "../names.ts";

/** Host of the API server, for pods: the gateway reads its keys with the token of its own account. */
const apiServerHost = "kubernetes.default.svc";
const rbac = "rbac.authorization.k8s.io";

/** Whether the keys of an issuer are read from the API server of the platform's cluster. */
export function hasClusterKeys(issInternal: string | undefined): boolean {
  const url = issInternal === undefined ? null : URL.parse(issInternal);
  return url?.protocol === "https:" && url.hostname === apiServerHost;
}

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
