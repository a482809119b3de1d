import { isMapping } from "../../runtime/settings/mapping.ts";

/** A Deployment or StatefulSet, as the program wants it or as the API server gives it. */
export type Workload = Readonly<Record<string, unknown>>;

/** How far a change of a workload has come. */
export type Rollout =
  | { readonly kind: "done" }
  | { readonly kind: "under-way"; readonly because: string }
  /** It will not come to its end by waiting. */
  | { readonly kind: "failed"; readonly because: string };

/**
 * Whether the pods of a workload are all those of the wanted version, and serve. `live` is read from the API server
 * itself: a watch may still tell of the version before.
 */
export function decideRollout(wanted: Workload, live: Workload | undefined): Rollout {
  if (live === undefined) return { kind: "failed", because: `it is not in the cluster; ${wayBack}` };
  const other = otherVersion(wanted, live);
  if (other !== undefined) return { kind: "failed", because: `${other}; ${wayBack}` };
  const of = (path: string): number => Number(at(live, path) ?? 0);
  const stuck = conditionOf(live, "Progressing");
  if (of("status.observedGeneration") < of("metadata.generation"))
    return { kind: "under-way", because: "the cluster has not looked at the change yet" };
  if (stuck?.["status"] === "False") return { kind: "failed", because: String(stuck["message"] ?? stuck["reason"]) };
  const pods = Number(at(live, "spec.replicas") ?? 1);
  const [updated, all, available] = [
    of("status.updatedReplicas"),
    of("status.replicas"),
    of("status.availableReplicas"),
  ];
  if (updated < pods) return { kind: "under-way", because: `${updated} of ${pods} pods are of the wanted version` };
  if (all > updated) return { kind: "under-way", because: `${all - updated} pods of the version before are there` };
  if (available < pods) return { kind: "under-way", because: `${available} of ${pods} pods are available` };
  return { kind: "done" };
}

const wayBack = "the state of the stack is not true: run pulumi up --refresh";

/** What of the containers is not as wanted. Others may add to pods: annotations, containers, variables. */
function otherVersion(wanted: Workload, live: Workload): string | undefined {
  const inCluster = new Map(containersOf(live).map((container) => [container["name"], container]));
  for (const { name, image, env } of containersOf(wanted)) {
    const found = inCluster.get(name);
    if (found === undefined) return `its container "${String(name)}" is not in the cluster`;
    if (found["image"] !== image) return `it runs image "${String(found["image"])}" instead of "${String(image)}"`;
    const set = variablesOf(found["env"]);
    for (const [variable, value] of variablesOf(env))
      if (set.get(variable) !== value)
        return `it runs with ${variable}="${set.get(variable) ?? ""}" instead of "${value}"`;
  }
  return undefined;
}

function containersOf(workload: Workload): readonly Workload[] {
  return mappingsIn(at(workload, "spec.template.spec.containers"));
}

/** Values by name; one that comes from elsewhere has none. */
function variablesOf(env: unknown): ReadonlyMap<string, string> {
  const variables = mappingsIn(env).flatMap(({ name, value = "", valueFrom }) =>
    typeof name === "string" && typeof value === "string" && valueFrom === undefined ? [[name, value] as const] : [],
  );
  return new Map(variables);
}

function conditionOf(live: Workload, type: string): Workload | undefined {
  return mappingsIn(at(live, "status.conditions")).find((condition) => condition["type"] === type);
}

function mappingsIn(value: unknown): readonly Workload[] {
  return Array.isArray(value) ? value.filter(isMapping) : [];
}

function at(value: unknown, path: string): unknown {
  return path.split(".").reduce((inner, key) => (isMapping(inner) ? inner[key] : undefined), value);
}
