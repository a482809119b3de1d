/** One rule of a role. */
export interface RightsRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

function rule(group: string, resources: readonly string[], ...verbs: readonly string[]): RightsRule {
  return { apiGroups: [group], resources, verbs };
}

const read = ["get", "list", "watch"] as const;
const functions = "service.com";

/** The exact rights of each process in a namespace of functions. */
export const functionRights = {
  gateway: [
    rule(functions, ["functions"], ...read, "create", "update", "patch", "delete"),
    rule(functions, ["functions/scale"], "get", "update", "patch"),
    rule(functions, ["secrets"], ...read, "create", "update", "patch", "delete"),
    rule("", ["secrets"], "create", "update", "delete"),
    rule("", ["pods"], "list"),
    rule("", ["pods/log"], "get"),
    rule("metrics.k8s.io", ["pods"], "get", "list"),
    rule("discovery.k8s.io", ["endpointslices"], "list", "watch"),
  ],
  "queue-worker": [
    rule(functions, ["functions"], ...read),
    rule(functions, ["functions/scale"], "get", "patch"),
    rule("discovery.k8s.io", ["endpointslices"], "list", "watch"),
  ],
  autoscaler: [
    rule(functions, ["functions"], ...read),
    rule(functions, ["functions/scale"], "get", "patch"),
    rule(functions, ["functions/status"], "patch"),
    rule("metrics.k8s.io", ["pods"], "list"),
    rule("discovery.k8s.io", ["endpointslices"], "list", "watch"),
  ],
  history: [rule("", ["pods"], "list", "watch"), rule("", ["pods/log"], "get")],
  operator: [
    rule(functions, ["functions", "functions/status", "secrets", "secrets/status"], ...read, "patch", "update"),
    rule(functions, ["secrets"], "create", "delete"),
    rule("", ["secrets"], ...read),
    rule("discovery.k8s.io", ["endpointslices"], "list", "watch"),
  ],
} as const satisfies Readonly<Record<string, readonly RightsRule[]>>;

/** Rights for leader election in the platform's namespace. */
export const leaseRights: readonly RightsRule[] = [rule("coordination.k8s.io", ["leases"], "get", "create", "update")];

/** Rights of processes that read the cluster's namespaces. */
export const readNamespaces: readonly RightsRule[] = [rule("", ["namespaces"], ...read)];

/** Rights of processes that change the cluster's namespaces. */
export const namespaceRights: readonly RightsRule[] = [rule("", ["namespaces"], ...read, "create", "update", "delete")];

/** Rights of all these processes in the whole cluster if it has many namespaces of functions. */
export const followCluster: readonly RightsRule[] = [
  rule(functions, ["functions"], "list", "watch"),
  rule("discovery.k8s.io", ["endpointslices"], "list", "watch"),
];

/** Rights of a history process in the whole cluster if it has many namespaces of functions. */
export const followPods: readonly RightsRule[] = [rule("", ["pods"], "list", "watch")];
