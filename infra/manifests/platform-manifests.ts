import { accessManifests } from "./rights/access.ts";
import { autoscalerManifests } from "./processes/autoscaler.ts";
import { gatewayManifests } from "./processes/gateway.ts";
import { historyManifests } from "./processes/history.ts";
import { httpRouteManifests } from "./http-route.ts";
import { iamManifests } from "./iam/iam-objects.ts";
import { ingressManifests } from "./ingress.ts";
import type { KubernetesObject } from "./kubernetes-object.ts";
import { namespaceManifests } from "./namespaces.ts";
import { natsManifests } from "./broker/nats.ts";
import { networkPolicyManifests } from "./network-policies.ts";
import { operatorManifests } from "./processes/operator.ts";
import type { Platform } from "./platform.ts";
import { withCommonLabels } from "./pods.ts";
import { queueDoctorManifests } from "./processes/queue-doctor.ts";
import { queueWorkerManifests } from "./processes/queue-workers.ts";

/** One part of the platform and its objects. */
export interface ManifestPart {
  readonly name: string;
  readonly objects: readonly KubernetesObject[];
}

/** Objects that are built elsewhere and have a place in the order. */
export interface OtherManifests {
  /** Custom resource definitions. */
  readonly definitions?: readonly KubernetesObject[];
  readonly secrets?: readonly KubernetesObject[];
}

/** All parts of the platform in the order in which they are applied; removal is in reverse. */
export function platformManifests(platform: Platform, others: OtherManifests = {}): ManifestPart[] {
  const parts: readonly ManifestPart[] = [
    { name: "namespaces", objects: namespaceManifests(platform) },
    { name: "access", objects: accessManifests(platform) },
    { name: "network-policies", objects: networkPolicyManifests(platform) },
    { name: "secrets", objects: others.secrets ?? [] },
    { name: "nats", objects: natsManifests(platform) },
    { name: "operator", objects: operatorManifests(platform) },
    { name: "iam", objects: iamManifests(platform) },
    { name: "queue-doctor", objects: queueDoctorManifests(platform) },
    { name: "gateway", objects: gatewayManifests(platform) },
    { name: "queue-worker", objects: queueWorkerManifests(platform) },
    { name: "autoscaler", objects: autoscalerManifests(platform) },
    { name: "history", objects: historyManifests(platform) },
    { name: "ingress", objects: [...ingressManifests(platform), ...httpRouteManifests(platform)] },
  ];
  const labelled = parts.map(({ name, objects }) => ({
    name,
    objects: objects.map((object) => withCommonLabels(platform, object)),
  }));
  // Definitions are for all platforms of the cluster.
  const definitions: ManifestPart = { name: "custom-resource-definitions", objects: others.definitions ?? [] };
  const [namespaces, ...rest] = labelled;
  return [...(namespaces === undefined ? [] : [namespaces]), definitions, ...rest];
}
