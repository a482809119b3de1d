import type { KubernetesObject } from "../../infra/manifests/kubernetes-object.ts";
import type { Action, Cluster } from "./cluster.ts";
import { ok, problem, type Finding } from "./finding.ts";

const verbs = ["get", "create", "patch", "delete"];

/** Whether the one who asks may make, change and remove what the platform is made of. */
export async function checkRights(cluster: Cluster, objects: readonly KubernetesObject[]): Promise<Finding[]> {
  const places = new Map<string, Omit<Action, "verb">>();
  for (const { apiVersion, kind, metadata } of objects) {
    const group = apiVersion.includes("/") ? (apiVersion.split("/")[0] ?? "") : "";
    const place = {
      group,
      resource: pluralOf(kind),
      ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
    };
    places.set(JSON.stringify(place), place);
  }
  // Who makes a role must have what it gives, or this.
  const roles = [...places.values()].filter(({ resource }) => resource.endsWith("roles"));
  const actions: Action[] = [
    ...[...places.values()].flatMap((place) => verbs.map((verb) => ({ ...place, verb }))),
    ...roles.map((place) => ({ ...place, verb: "escalate" })),
  ];
  const answers = await cluster.allowed(actions);
  const missing = actions.filter((_, index) => answers[index] !== true);
  if (missing.length === 0) return [ok(`you may do all ${actions.length} things that making the platform takes`)];
  const words = new Map<string, string[]>();
  for (const { verb, resource, namespace } of missing) {
    const where = namespace === undefined ? resource : `${resource} in ${namespace}`;
    words.set(where, [...(words.get(where) ?? []), verb]);
  }
  return [...words].map(([where, lacking]) =>
    problem(
      `you may not ${lacking.join(", ")} ${where}`,
      "ask an administrator of the cluster, or use another context",
    ),
  );
}

/** As the API spells it, for the kinds that there are. */
export function pluralOf(kind: string): string {
  const word = kind.toLowerCase();
  if (word.endsWith("y")) return `${word.slice(0, -1)}ies`;
  return word.endsWith("s") ? `${word}es` : `${word}s`;
}
