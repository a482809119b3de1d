import type { Component } from "./platform-options.ts";
import { given, type KubernetesObject } from "./kubernetes-object.ts";
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

/** Resources of a pod: memory as configured or derived, in bytes. CPU is requested, and limited only if that is set. */
export function resourcesOf(platform: Platform, component: Component, derived: { memory: number; cpu: string }) {
  const { requests, limits } = platform.parts[component].resources;
  const memory = platform.memory[component] ?? `${Math.ceil(derived.memory / mebibyte)}Mi`;
  const cpu = platform.cpu[component] ?? derived.cpu;
  return { requests: { cpu, memory, ...requests }, limits: { memory, ...limits } };
}

/** Placement and priority of a pod as the stack says, on nodes of the images' architecture if there is only one. */
export function placementOf({ images: { architecture }, pods, parts }: Platform, component: Component) {
  const { priorityClass = pods.priorityClass, nodeSelector, affinity, ...own } = parts[component];
  const selector = {
    ...(architecture === undefined ? {} : { "kubernetes.io/arch": architecture }),
    ...pods.nodeSelector,
    ...nodeSelector,
  };
  const tolerations = [...pods.tolerations, ...own.tolerations];
  return {
    ...given("priorityClassName", priorityClass),
    ...given("nodeSelector", Object.keys(selector).length === 0 ? undefined : selector),
    ...given("tolerations", tolerations.length === 0 ? undefined : tolerations),
    ...given("affinity", affinity),
  };
}

/** Labels of a pod: those of the stack, overridden by its own, by which it is selected. */
export function podLabelsOf(
  { commonLabels, pods, parts }: Platform,
  component: Component,
  own: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return { ...commonLabels, ...pods.labels, ...parts[component].labels, ...own };
}

/** Annotations of the service account of a part, as a cloud wants them for the rights of its pods. */
export function accountAnnotations({ parts }: Platform, component: Component) {
  const annotations = parts[component].accountAnnotations;
  return given("annotations", Object.keys(annotations).length === 0 ? undefined : annotations);
}

/** The object with the labels that all objects of the platform have. */
export function withCommonLabels<T extends KubernetesObject>({ commonLabels }: Platform, object: T): T {
  if (Object.keys(commonLabels).length === 0) return object;
  const { metadata } = object;
  return { ...object, metadata: { ...metadata, labels: { ...commonLabels, ...metadata.labels } } };
}

/** The variables of a part that a stack adds. */
export function variablesOf({ parts }: Platform, component: Component) {
  return Object.entries(parts[component].env).map(([name, value]) => ({ name, value }));
}

/** Annotations of a pod: those of the stack, overridden by its own. */
export function annotationsOf({ pods, parts }: Platform, component: Component, own: Readonly<Record<string, string>>) {
  const annotations = { ...pods.annotations, ...parts[component].annotations, ...own };
  return given("annotations", Object.keys(annotations).length === 0 ? undefined : annotations);
}

/** The secrets with which a pod pulls its images. */
export function pullSecretsOf({ images }: Platform) {
  return given(
    "imagePullSecrets",
    images.pullSecrets.length === 0 ? undefined : images.pullSecrets.map((name) => ({ name })),
  );
}

/** Spreads the pods of one part over nodes and zones where possible, or as the stack says. */
export function spreadOf(
  { parts }: Platform,
  component: Component,
  selector: Readonly<Record<string, string>>,
): readonly object[] {
  const { topologySpread } = parts[component];
  if (topologySpread.length > 0)
    return topologySpread.map((each) => ({ labelSelector: { matchLabels: selector }, ...each }));
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
