import { isDeepStrictEqual } from "node:util";

import { isMapping } from "../../runtime/settings/mapping.ts";

/** A Deployment or StatefulSet, as desired by the program or as returned by the API server. */
export type Workload = Readonly<Record<string, unknown>>;

/** The progress of a change of a workload. */
export type RolloutDecision =
  | { readonly kind: "done" }
  | { readonly kind: "under-way"; readonly because: string }
  /** It failed, and is being tried again: if that lasts, waiting does not help. */
  | { readonly kind: "failing"; readonly because: string }
  /** Waiting does not help. */
  | { readonly kind: "failed"; readonly because: string };

/**
 * Whether all pods of a workload are of the desired version and available. `live` is read from the API server itself,
 * because a watch may still report the previous version.
 */
export function decideRollout(wanted: Workload, live: Workload | undefined): RolloutDecision {
  if (live === undefined) return { kind: "failed", because: `it is not in the cluster; ${remedy}` };
  const other = otherVersion(wanted, live);
  if (other !== undefined) return { kind: "failed", because: `${other}; ${remedy}` };
  const of = (path: string): number => Number(at(live, path) ?? 0);
  const progressing = conditionOf(live, "Progressing");
  if (of("status.observedGeneration") < of("metadata.generation"))
    return { kind: "under-way", because: "the cluster has not looked at the change yet" };
  if (progressing?.["status"] === "False")
    return { kind: "failed", because: String(progressing["message"] ?? progressing["reason"]) };
  const pods = Number(at(live, "spec.replicas") ?? 1);
  const [updated, all, available] = [
    of("status.updatedReplicas"),
    of("status.replicas"),
    of("status.availableReplicas"),
  ];
  if (updated < pods) return { kind: "under-way", because: `${updated} of ${pods} pods are of the desired version` };
  if (all > updated) return { kind: "under-way", because: `${all - updated} pods of the previous version still run` };
  if (available < pods) return { kind: "under-way", because: `${available} of ${pods} pods are available` };
  return { kind: "done" };
}

/** What to do when the cluster has something else than the stack. */
export const remedy = "the state of the stack is out of date: run pulumi up --refresh";

/** The first difference from the desired pods. Additions are accepted: annotations, containers, variables. */
function otherVersion(wanted: Workload, live: Workload): string | undefined {
  const marks = annotationsOf(live);
  for (const [key, value] of Object.entries(annotationsOf(wanted)))
    if (marks[key] !== value)
      return `the annotation ${key} of its pods is ${shown(marks[key])} instead of ${shown(value)}`;
  const inCluster = new Map(containersOf(live).map((container) => [container["name"], container]));
  for (const { name, image, env, args } of containersOf(wanted)) {
    const found = inCluster.get(name);
    if (found === undefined) return `its container "${String(name)}" is not in the cluster`;
    if (found["image"] !== image) return `it runs image "${String(found["image"])}" instead of "${String(image)}"`;
    if (args !== undefined && !isDeepStrictEqual(found["args"], args))
      return `it runs with the arguments ${shown(found["args"])} instead of ${shown(args)}`;
    const set = variablesOf(found["env"]);
    for (const [variable, value] of variablesOf(env))
      if (set.get(variable) !== value)
        return `it runs with ${variable}="${set.get(variable) ?? ""}" instead of "${value}"`;
  }
  return undefined;
}

/** Annotations of the pods: when one changes, the pods are restarted. */
function annotationsOf(workload: Workload): Workload {
  const annotations = at(workload, "spec.template.metadata.annotations");
  return isMapping(annotations) ? annotations : {};
}

function shown(value: unknown): string {
  return JSON.stringify(value) ?? "absent";
}

function containersOf(workload: Workload): readonly Workload[] {
  return mappingsIn(at(workload, "spec.template.spec.containers"));
}

/** Values by name, without those that come from elsewhere. */
function variablesOf(env: unknown): ReadonlyMap<string, string> {
  const variables = mappingsIn(env).flatMap(({ name, value = "", valueFrom }) =>
    typeof name === "string" && typeof value === "string" && valueFrom === undefined ? [[name, value] as const] : [],
  );
  return new Map(variables);
}

/** A condition in the status of an object. */
export function conditionOf(live: Workload, type: string): Workload | undefined {
  return mappingsIn(at(live, "status.conditions")).find((condition) => condition["type"] === type);
}

/** The mappings in a list; none when it is no list. */
export function mappingsIn(value: unknown): readonly Workload[] {
  return Array.isArray(value) ? value.filter(isMapping) : [];
}

/** The value at a path of keys; undefined when there is none. */
export function at(value: unknown, path: string): unknown {
  return path.split(".").reduce((inner, key) => (isMapping(inner) ? inner[key] : undefined), value);
}
