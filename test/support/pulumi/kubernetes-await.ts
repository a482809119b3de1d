import { setTimeout as pause } from "node:timers/promises";

import type { ObjectPlace } from "../../../runtime/adapters/kubernetes/client/client.ts";
import type { Kind } from "../../../runtime/adapters/kubernetes/client/kinds.ts";
import { endpointSlice, type KubernetesRequests, type LiveObject } from "./kubernetes-requests.ts";
import { isMapping, valueAt, type Properties } from "./property-values.ts";

/** The object to wait for, and the timeout in milliseconds. */
export interface AwaitedObject {
  readonly kind: Kind;
  readonly place: ObjectPlace;
  readonly timeout: number;
  /** The program's criterion of readiness: `condition=Ready`, or several in JSON; by default that of its kind. */
  readonly waitFor?: string | undefined;
  /** The object before the change; absent if it was created. */
  readonly before?: LiveObject | undefined;
}

type Unready = string | undefined;
type Check = (live: LiveObject, requests: KubernetesRequests) => Unready | Promise<Unready>;

/**
 * Kinds whose change the real plugin may consider done at once: its cache of a watch returns the object from before the
 * write, which was ready. The real plugin does so now and then, this one always.
 */
const replayed: readonly string[] = ["Deployment"];

const firstPause = 100;
const longestPause = 1_000;

const checks: Readonly<Record<string, Check>> = {
  "apps/Deployment": (live) => workload(live, ["updatedReplicas", "availableReplicas", "replicas"]),
  "apps/StatefulSet": (live) =>
    workload(live, ["updatedReplicas", "readyReplicas", "replicas"]) ??
    (at(live, "status.currentRevision") === at(live, "status.updateRevision") ? undefined : "an old revision is left"),
  "batch/Job": (live) => (condition(live, "Complete") ? undefined : "it is not complete"),
  "apiextensions.k8s.io/CustomResourceDefinition": (live) =>
    condition(live, "Established") ? undefined : "it is not established",
  "networking.k8s.io/Ingress": ingress,
  "/Service": service,
  "/PersistentVolumeClaim": claim,
  "/Pod": (live) => (condition(live, "Ready") ? undefined : "it is not ready"),
};

/**
 * Waits until an object is ready, by the rule of the real plugin for its kind.
 * @throws Error that says what is missing after `timeout`
 */
export async function awaitReady(requests: KubernetesRequests, awaited: AwaitedObject): Promise<void> {
  const { kind, place, timeout, waitFor, before } = awaited;
  const check = waitFor === undefined ? checks[`${kind.group}/${kind.kind}`] : conditionsOf(waitFor);
  if (check === undefined) return;
  if (before !== undefined && replayed.includes(kind.kind) && (await check(before, requests)) === undefined) return;
  await until(timeout, `"${place.name}" timed out waiting to be Ready`, async () => {
    const live = await requests.find(kind, place);
    return live === undefined ? "it is gone" : check(live, requests);
  });
}

/**
 * Waits until an object is gone, and everything that it owns if it was deleted in the foreground.
 * @throws Error after `timeout`
 */
export async function awaitGone(
  requests: KubernetesRequests,
  { kind, place, timeout }: AwaitedObject,
  uid: unknown,
): Promise<void> {
  await until(timeout, `"${place.name}" timed out waiting to be deleted`, async () => {
    const live = await requests.find(kind, place);
    if (live === undefined || (uid !== undefined && live.metadata.uid !== uid)) return undefined;
    return `it is there, with finalizers ${JSON.stringify(at(live, "metadata.finalizers") ?? [])}`;
  });
}

async function until(timeout: number, sentence: string, check: () => Promise<Unready>): Promise<void> {
  const end = performance.now() + timeout;
  for (let wait = firstPause; ; wait = Math.min(wait * 1.5, longestPause)) {
    const missing = await check();
    if (missing === undefined) return;
    if (performance.now() > end) throw new Error(`${sentence}: ${missing}`);
    await pause(wait);
  }
}

function workload(live: LiveObject, counts: readonly string[]): Unready {
  if (Number(at(live, "status.observedGeneration") ?? 0) < (live.metadata.generation ?? 0))
    return "it was not looked at";
  const desired = Number(at(live, "spec.replicas") ?? 1);
  const wrong = counts.find((count) => Number(at(live, `status.${count}`) ?? 0) !== desired);
  return wrong && `${wrong} is ${Number(at(live, `status.${wrong}`) ?? 0)} of ${desired}`;
}

async function service(live: LiveObject, requests: KubernetesRequests): Promise<Unready> {
  const type = at(live, "spec.type");
  if (type === "ExternalName") return undefined;
  if (type === "LoadBalancer" && !isFilled(at(live, "status.loadBalancer.ingress"))) return "it has no address outside";
  if (at(live, "spec.clusterIP") === "None" || !isFilled(at(live, "spec.selector"))) return undefined;
  return (await hasEndpoints(requests, live.metadata.namespace ?? "", live.metadata.name))
    ? undefined
    : "it does not target any ready pods";
}

async function ingress(live: LiveObject, requests: KubernetesRequests): Promise<Unready> {
  const rules = (at(live, "spec.rules") ?? []) as readonly Properties[];
  const paths = rules.flatMap((rule) => (at(rule, "http.paths") ?? []) as readonly Properties[]);
  for (const path of paths) {
    const name = at(path, "backend.service.name");
    if (typeof name === "string" && !(await hasEndpoints(requests, live.metadata.namespace ?? "", name))) {
      return `its Service "${name}" does not target any ready pods`;
    }
  }
  return isFilled(at(live, "status.loadBalancer.ingress")) ? undefined : "no ingress controller gave it an address";
}

async function hasEndpoints(requests: KubernetesRequests, namespace: string, name: string): Promise<boolean> {
  const slices = await requests.list(endpointSlice, namespace, `kubernetes.io/service-name=${name}`);
  const endpoints = slices.flatMap((slice) => (slice["endpoints"] ?? []) as readonly Properties[]);
  return endpoints.some((endpoint) => at(endpoint, "conditions.ready") !== false && isFilled(endpoint["addresses"]));
}

async function claim(live: LiveObject, requests: KubernetesRequests): Promise<Unready> {
  const phase = at(live, "status.phase");
  if (phase === "Bound") return undefined;
  const name = at(live, "spec.storageClassName");
  const kind = await requests.kind("storage.k8s.io/v1", "StorageClass");
  const storage = typeof name === "string" && name !== "" ? await requests.find(kind, { name }) : undefined;
  return storage?.["volumeBindingMode"] === "WaitForFirstConsumer" ? undefined : `it is ${String(phase)}`;
}

/** `condition=Ready` or `condition=Ready=True`; paths are not supported here. */
function conditionsOf(waitFor: string): Check {
  const expressions = waitFor.startsWith("[") ? (JSON.parse(waitFor) as readonly string[]) : [waitFor];
  const conditions = expressions.map((each) => {
    const [keyword, type, status = "True"] = each.split("=");
    if (keyword !== "condition" || type === undefined)
      throw new Error(`Cannot wait for "${each}": only conditions are known`);
    return { type, status };
  });
  return (live) => {
    const missing = conditions.find(({ type, status }) => !condition(live, type, status));
    return missing && `condition ${missing.type} is not ${missing.status}`;
  };
}

function condition(live: LiveObject, type: string, status = "True"): boolean {
  const conditions = (at(live, "status.conditions") ?? []) as readonly Properties[];
  return conditions.some((each) => each["type"] === type && each["status"] === status);
}

function at(value: Properties, path: string): unknown {
  return valueAt(value, path.split("."));
}

function isFilled(value: unknown): boolean {
  return (Array.isArray(value) && value.length > 0) || (isMapping(value) && Object.keys(value).length > 0);
}
