import type { Component } from "./platform-options.ts";
import { given } from "./kubernetes-object.ts";
import type { Platform } from "./platform.ts";

/** User and group of all processes; an id without a user on the nodes. */
const user = 65_532;
const mebibyte = 2 ** 20;

/** What the pod security level `restricted` requires of a pod. */
export const podSecurity = {
  runAsNonRoot: true,
  runAsUser: user,
  runAsGroup: user,
  fsGroup: user,
  fsGroupChangePolicy: "OnRootMismatch",
  seccompProfile: { type: "RuntimeDefault" },
} as const;

/** What it requires of a container, and more. */
export const containerSecurity = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
  readOnlyRootFilesystem: true,
} as const;

/** Mode of Secret files: readable by owner and group, writable by none. */
export const secretFileMode = 0o440;

/** Seconds a pod gets to stop: the drain timeout of its process, given in milliseconds, plus 5 s. */
export function graceSeconds(drainTimeout: number): number {
  return Math.ceil(drainTimeout / 1_000) + 5;
}

/** Resources of a pod: memory as configured or derived, in bytes. CPU is requested, but never limited. */
export function resourcesOf(platform: Platform, component: Component, derived: { memory: number; cpu: string }) {
  const memory = platform.memory[component] ?? `${Math.ceil(derived.memory / mebibyte)}Mi`;
  return { requests: { cpu: platform.cpu[component] ?? derived.cpu, memory }, limits: { memory } };
}

/** Placement and priority of a pod as the stack says, on nodes of the images' architecture if there is only one. */
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

/** Annotations of a pod: those of the stack, overridden by its own. */
export function annotationsOf({ pods }: Platform, own: Readonly<Record<string, string>>) {
  const annotations = { ...pods.annotations, ...own };
  return given("annotations", Object.keys(annotations).length === 0 ? undefined : annotations);
}

/** The secrets with which a pod pulls its images. */
export function pullSecretsOf({ images }: Platform) {
  return given(
    "imagePullSecrets",
    images.pullSecrets.length === 0 ? undefined : images.pullSecrets.map((name) => ({ name })),
  );
}

/** Spreads the pods of one part over nodes and zones where possible. */
export function spreadOf(selector: Readonly<Record<string, string>>) {
  return ["kubernetes.io/hostname", "topology.kubernetes.io/zone"].map((topologyKey) => ({
    maxSkew: 1,
    topologyKey,
    whenUnsatisfiable: "ScheduleAnyway",
    labelSelector: { matchLabels: selector },
  }));
}

/** Of several pods, only one at a time may be evicted voluntarily. */
export function disruptionBudget(name: string, namespace: string, labels: Readonly<Record<string, string>>) {
  return (selector: Readonly<Record<string, string>>) => ({
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name, namespace, labels },
    spec: { maxUnavailable: 1, selector: { matchLabels: selector } },
  });
}
