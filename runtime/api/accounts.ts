/** The accounts, labels and roles of the platform on Kubernetes, each name spelt once. */

/** Service accounts in the platform's namespace, one per process. */
export const accounts = {
  gateway: "gateway",
  queueWorker: "queue-worker",
  queueDoctor: "queue-doctor",
  autoscaler: "autoscaler",
  operator: "operator",
  history: "history",
} as const;

export type Account = (typeof accounts)[keyof typeof accounts];

/**
 * Accounts that may act in namespaces of functions: every such namespace has a role binding for each. The bindings are
 * created in this order; the operator's comes first, because the operator creates the others.
 */
export const accountsInFunctionNamespaces = [
  accounts.operator,
  accounts.gateway,
  accounts.queueWorker,
  accounts.autoscaler,
  accounts.history,
] as const;

/** Where a role applies: the platform's namespace, a namespace of functions, or the whole cluster. */
export type RoleScope = "platform" | "functions" | "cluster";

/** Name of an account's ClusterRole; contains the platform's namespace, as a cluster may hold several platforms. */
export function clusterRoleName(platformNamespace: string, account: Account, scope: RoleScope): string {
  return `${platformNamespace}-${account}-${scope}`;
}

/** Label that names the process of a platform pod; network policies select by it. */
export const processLabel = "app.kubernetes.io/name";
