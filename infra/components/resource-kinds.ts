import {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from "@pulumi/kubernetes/admissionregistration/v1/index.js";
import { HorizontalPodAutoscaler } from "@pulumi/kubernetes/autoscaling/v2/index.js";
import { CustomResource } from "@pulumi/kubernetes/apiextensions/customResource.js";
import { CustomResourceDefinition } from "@pulumi/kubernetes/apiextensions/v1/index.js";
import { Deployment, StatefulSet } from "@pulumi/kubernetes/apps/v1/index.js";
import {
  ConfigMap,
  Namespace,
  PersistentVolumeClaim,
  Secret,
  Service,
  ServiceAccount,
} from "@pulumi/kubernetes/core/v1/index.js";
import { Ingress, NetworkPolicy } from "@pulumi/kubernetes/networking/v1/index.js";
import { PodDisruptionBudget } from "@pulumi/kubernetes/policy/v1/index.js";
import { ClusterRole, ClusterRoleBinding, RoleBinding } from "@pulumi/kubernetes/rbac/v1/index.js";
import type * as pulumi from "@pulumi/pulumi";

import { iamApiVersion } from "../../runtime/api/iam/iam-schemas.ts";
import type { OpenObject } from "../open-texts.ts";

/** The fields of an object; some classes require some of the named ones, the others ignore them. */
type Fields = pulumi.Inputs &
  Readonly<Record<"apiVersion" | "kind" | "metadata" | "spec" | "roleRef", pulumi.Inputs[string]>>;

/** A class whose arguments are the object in the form of the API server. */
type ResourceKind = new (name: string, args: Fields, options: pulumi.CustomResourceOptions) => pulumi.CustomResource;

/** All kinds that the platform consists of, by apiVersion and kind. */
const resourceKinds: ReadonlyMap<string, ResourceKind> = new Map<string, ResourceKind>([
  ["v1 ConfigMap", ConfigMap],
  ["v1 Namespace", Namespace],
  ["v1 PersistentVolumeClaim", PersistentVolumeClaim],
  ["v1 Secret", Secret],
  ["v1 Service", Service],
  ["v1 ServiceAccount", ServiceAccount],
  ["admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy", ValidatingAdmissionPolicy],
  ["admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding", ValidatingAdmissionPolicyBinding],
  ["apiextensions.k8s.io/v1 CustomResourceDefinition", CustomResourceDefinition],
  ["apps/v1 Deployment", Deployment],
  ["apps/v1 StatefulSet", StatefulSet],
  ["autoscaling/v2 HorizontalPodAutoscaler", HorizontalPodAutoscaler],
  ["gateway.networking.k8s.io/v1 HTTPRoute", CustomResource],
  [`${iamApiVersion} JwtIssuer`, CustomResource],
  [`${iamApiVersion} Policy`, CustomResource],
  [`${iamApiVersion} Role`, CustomResource],
  ["networking.k8s.io/v1 Ingress", Ingress],
  ["networking.k8s.io/v1 NetworkPolicy", NetworkPolicy],
  ["policy/v1 PodDisruptionBudget", PodDisruptionBudget],
  ["rbac.authorization.k8s.io/v1 ClusterRole", ClusterRole],
  ["rbac.authorization.k8s.io/v1 ClusterRoleBinding", ClusterRoleBinding],
  ["rbac.authorization.k8s.io/v1 RoleBinding", RoleBinding],
]);

/**
 * Creates a resource of the object's kind.
 * @throws Error for a kind that is not in the table
 */
export function makeResource(
  name: string,
  object: OpenObject,
  options: pulumi.CustomResourceOptions,
): pulumi.CustomResource {
  const kind = `${object.apiVersion} ${object.kind}`;
  const Kind = resourceKinds.get(kind);
  if (Kind === undefined) throw new Error(`Cannot make a resource of kind "${kind}": it is not in the table`);
  return new Kind(name, { ...object, spec: object["spec"], roleRef: object["roleRef"] }, options);
}
