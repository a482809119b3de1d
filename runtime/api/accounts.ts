/** The accounts, labels and roles of the platform on Kubernetes, each name spelt once. */

/** Service accounts in the platform's namespace, one per process. */
export const accounts = {
  gateway: "gateway",
  queueWorker: "queue-worker",
  queueDoctor: "queue-doctor",
  autoscaler: "autoscaler",
  operator: "operator",
} as const;

export type Account = (typeof accounts)[keyof typeof accounts];

/**
 * Those that may act in namespaces of functions: a role binding for each is in every such namespace. They are made in
 * this order: the operator's first, as it makes the rest.
 */
export const accountsInFunctionNamespaces = [
  accounts.operator,
  accounts.gateway,
  accounts.queueWorker,
  accounts.autoscaler,
] as const;

/** Where a role holds: namespace of the platform, a namespace of functions, or the whole cluster. */
export type RoleScope = "platform" | "functions" | "cluster";

/** Name of the ClusterRole of an account; with the platform's namespace, as a cluster may hold several platforms. */
export function clusterRoleName(platformNamespace: string, account: Account, scope: RoleScope): string {
  return `${platformNamespace}-${account}-${scope}`;
}

/** Label of a pod of the platform that names its process; policies of the network select by it. */
export const processLabel = "app.kubernetes.io/name";
