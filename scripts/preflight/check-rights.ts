import { apiServerObject } from "../../infra/manifests/api-server.ts";
import type { KubernetesObject } from "../../infra/manifests/kubernetes-object.ts";
import type { Platform } from "../../infra/manifests/platform.ts";
import type { Action, Cluster } from "./cluster.ts";
import { ok, problem, type Finding } from "./finding.ts";

const verbs = ["get", "create", "patch", "delete"];

/** Whether the user may create, change and delete the platform's objects, and read where the API server is. */
export async function checkRights(
  cluster: Cluster,
  objects: readonly KubernetesObject[],
  apiServer: Platform["apiServer"],
): Promise<Finding[]> {
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
  // To create a role, a user must have all rights that it grants, or `escalate`.
  const roles = [...places.values()].filter(({ resource }) => resource.endsWith("roles"));
  const actions: Action[] = [
    ...[...places.values()].flatMap((place) => verbs.map((verb) => ({ ...place, verb }))),
    ...roles.map((place) => ({ ...place, verb: "escalate" })),
    ...readsOfApiServer(apiServer),
  ];
  const allowed = await cluster.allowed(actions);
  const missing = actions.filter((_, index) => allowed[index] !== true);
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

/** What `pulumi up` reads about the API server: everything that the stack does not set. */
function readsOfApiServer({ ports, serviceAddresses }: Platform["apiServer"]): Action[] {
  const { namespace } = apiServerObject;
  return [
    ...(ports.length > 0 ? [] : [{ group: "discovery.k8s.io", resource: "endpointslices", namespace, verb: "get" }]),
    ...(serviceAddresses.length > 0 ? [] : [{ group: "", resource: "services", namespace, verb: "get" }]),
  ];
}

/** The plural in the API, for the kinds in use. */
export function pluralOf(kind: string): string {
  const word = kind.toLowerCase();
  if (word.endsWith("y")) return `${word.slice(0, -1)}ies`;
  return word.endsWith("s") ? `${word}es` : `${word}s`;
}
