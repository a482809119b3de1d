import type { KubernetesObject } from "../manifests/kubernetes-object.ts";

/** Kinds that are waited for until their pods are ready. */
const workloads: readonly string[] = ["Deployment", "StatefulSet"];
/** Kinds that need a role or a policy. */
const bindings: readonly string[] = ["ClusterRoleBinding", "RoleBinding", "ValidatingAdmissionPolicyBinding"];

/**
 * When an object of a part is made and changed, smallest first: pods after the configuration that they read, and a
 * Service that is waited for until it has endpoints after its pods. Removal goes the other way.
 */
export function stageOf(object: KubernetesObject): number {
  const { kind } = object;
  if (isWorkload(object) || bindings.includes(kind)) return 1;
  if (kind === "Service" && !isHeadless(object)) return 2;
  return kind === "PodDisruptionBudget" ? 2 : 0;
}

/** Whether it makes pods that are waited for. */
export function isWorkload({ kind }: KubernetesObject): boolean {
  return workloads.includes(kind);
}

/** Servers find each other by it before any of them is ready. */
function isHeadless({ spec }: KubernetesObject): boolean {
  return typeof spec === "object" && spec !== null && "clusterIP" in spec && spec.clusterIP === "None";
}
