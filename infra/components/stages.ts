import { iamApiVersion } from "../../runtime/api/iam/iam-schemas.ts";
import type { KubernetesObject } from "../manifests/kubernetes-object.ts";

/** Kinds that are awaited until their pods are ready. */
const workloads: readonly string[] = ["Deployment", "StatefulSet"];
/** Kinds that need a role or a policy. */
const bindings: readonly string[] = ["ClusterRoleBinding", "RoleBinding", "ValidatingAdmissionPolicyBinding"];

/** Kinds that say something of pods that are there. */
const ofPods: readonly string[] = ["HorizontalPodAutoscaler", "PodDisruptionBudget"];

/**
 * The stage in which an object of a part is created and changed, lowest first: pods after the configuration that they
 * read, and a Service, which is awaited until it has endpoints, after its pods. Removal is in reverse.
 */
export function stageOf(object: KubernetesObject): number {
  const { kind } = object;
  if (isWorkload(object) || bindings.includes(kind)) return 1;
  if (kind === "Service" && !isHeadless(object)) return 2;
  return ofPods.includes(kind) ? 2 : 0;
}

/** Whether it creates pods that are awaited. */
export function isWorkload({ kind }: KubernetesObject): boolean {
  return workloads.includes(kind);
}

/** Whether others come after it only when the cluster reports that its last change is out. */
export function isGated(object: KubernetesObject): boolean {
  return isWorkload(object) || object.apiVersion === iamApiVersion;
}

/** Servers use a headless Service to find each other before any of them is ready. */
function isHeadless({ spec }: KubernetesObject): boolean {
  return typeof spec === "object" && spec !== null && "clusterIP" in spec && spec.clusterIP === "None";
}
