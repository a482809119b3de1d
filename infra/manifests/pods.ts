import type { Component } from "./platform-options.ts";
import { given } from "./kubernetes-object.ts";
import type { Platform } from "./platform.ts";

/** User and group of all processes; nobody on the nodes. */
const user = 65_532;
const mebibyte = 2 ** 20;

/** What the pod security level `restricted` demands of a pod. */
export const podSecurity = {
  runAsNonRoot: true,
  runAsUser: user,
  runAsGroup: user,
  fsGroup: user,
  fsGroupChangePolicy: "OnRootMismatch",
  seccompProfile: { type: "RuntimeDefault" },
} as const;

/** What it demands of a container, and more. */
export const containerSecurity = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
  readOnlyRootFilesystem: true,
} as const;

/** Files of Secrets: the owner's group reads them, nobody writes. */
export const secretFileMode = 0o440;

/** Seconds a pod gets to stop: what its process gives itself at most, and 5 s more. Milliseconds in. */
export function graceSeconds(drainTimeout: number): number {
  return Math.ceil(drainTimeout / 1_000) + 5;
}

/** Resources of a pod: memory as derived, in bytes, or as said; processors are asked for and never cut. */
export function resourcesOf(platform: Platform, component: Component, derived: { memory: number; cpu: string }) {
  const memory = platform.memory[component] ?? `${Math.ceil(derived.memory / mebibyte)}Mi`;
  return { requests: { cpu: platform.cpu[component] ?? derived.cpu, memory }, limits: { memory } };
}

/** Where a pod may run, and what comes before it, as the stack says: on nodes that its images are for, if they are for one architecture alone. */
export function placementOf({
  images: { architecture },
  pods: { priorityClass, nodeSelector, tolerations },
}: Platform) {
  const selector = { ...(architecture === undefined ? {} : { "kubernetes.io/arch": architecture }), ...nodeSelector };
  return {
    ...given("priorityClassName", priorityClass),
    ...given("nodeSelector", Object.keys(selector).length === 0 ? undefined : selector),
    ...given("tolerations", tolerations.length === 0 ? undefined : tolerations),
  };
}

/** Annotations of a pod: those of the stack, and its own, which win. */
export function annotationsOf({ pods }: Platform, own: Readonly<Record<string, string>>) {
  const annotations = { ...pods.annotations, ...own };
  return given("annotations", Object.keys(annotations).length === 0 ? undefined : annotations);
}

/** What a pod says of its images. */
export function pullSecretsOf({ images }: Platform) {
  return given(
    "imagePullSecrets",
    images.pullSecrets.length === 0 ? undefined : images.pullSecrets.map((name) => ({ name })),
  );
}

/** Pods of one part lie on different nodes where that is possible. */
export function spreadOf(selector: Readonly<Record<string, string>>) {
  return ["kubernetes.io/hostname", "topology.kubernetes.io/zone"].map((topologyKey) => ({
    maxSkew: 1,
    topologyKey,
    whenUnsatisfiable: "ScheduleAnyway",
    labelSelector: { matchLabels: selector },
  }));
}

/** Of several pods one may be away at a time, when it is for the cluster's convenience. */
export function disruptionBudget(name: string, namespace: string, labels: Readonly<Record<string, string>>) {
  return (selector: Readonly<Record<string, string>>) => ({
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name, namespace, labels },
    spec: { maxUnavailable: 1, selector: { matchLabels: selector } },
  });
}
