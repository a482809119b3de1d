import {
  accounts,
  accountsInFunctionNamespaces,
  clusterRoleName,
  type Account,
} from "../../../runtime/api/accounts.ts";
import { callbackSecretCopies } from "../../../runtime/api/names.ts";
import { natsPodNames } from "../broker/nats-addresses.ts";
import type { Platform } from "../platform.ts";

/** One rule of a role. */
export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** What one account may do: in the platform's namespace, in each namespace of functions, and in the whole cluster. */
export interface AccountRights {
  readonly account: Account;
  readonly platform: readonly Rule[];
  readonly functions: readonly Rule[];
  readonly cluster: readonly Rule[];
}

const group = {
  core: "",
  apps: "apps",
  authorization: "authorization.k8s.io",
  discovery: "discovery.k8s.io",
  iam: "iam.service.com",
  leases: "coordination.k8s.io",
  metrics: "metrics.k8s.io",
  networking: "networking.k8s.io",
  rbac: "rbac.authorization.k8s.io",
  weir: "service.com",
} as const;

const read = ["get", "list", "watch"] as const;
const follow = ["list", "watch"] as const;
const manage = [...read, "create", "patch", "delete"] as const;
const iamKinds = ["jwtissuers", "policies", "roles"] as const;

/** The rights of every account, no more than its process needs. */
export function accountRights(
  platform: Pick<Platform, "manyNamespaces" | "platformNamespace" | "history">,
): AccountRights[] {
  return [
    gatewayRights(platform.manyNamespaces),
    queueWorkerRights(platform.manyNamespaces),
    autoscalerRights(platform.manyNamespaces),
    operatorRights(platform),
    queueDoctorRights(),
    ...(platform.history ? [historyRights(platform.manyNamespaces)] : []),
  ];
}

function gatewayRights(manyNamespaces: boolean): AccountRights {
  return {
    account: accounts.gateway,
    platform: [
      rule(group.weir, ["profiles"], read),
      rule(group.iam, iamKinds, read),
      // Gateways read the keys of issuers, so they alone know whether they can.
      rule(group.iam, ["jwtissuers/status"], ["patch"]),
    ],
    functions: [
      rule(group.weir, ["functions"], [...read, "create", "update", "patch", "delete"]),
      rule(group.weir, ["functions/scale"], ["get", "patch"]),
      rule(group.weir, ["secrets"], [...read, "create", "update", "patch", "delete"]),
      // It writes secret values, but cannot read them.
      rule(group.core, ["secrets"], ["create", "update", "delete"]),
      rule(group.core, ["pods"], ["list"]),
      rule(group.core, ["pods/log"], ["get"]),
      rule(group.metrics, ["pods"], ["get", "list"]),
      rule(group.discovery, ["endpointslices"], follow),
    ],
    cluster: [
      rule(group.core, ["namespaces"], manyNamespaces ? [...read, "create", "update", "delete"] : read),
      ...(manyNamespaces ? [rule(group.authorization, ["selfsubjectaccessreviews"], ["create"])] : []),
      ...callTargets(manyNamespaces),
    ],
  };
}

function queueWorkerRights(manyNamespaces: boolean): AccountRights {
  return {
    account: accounts.queueWorker,
    platform: [],
    functions: [
      rule(group.weir, ["functions"], read),
      rule(group.weir, ["functions/scale"], ["get", "patch"]),
      rule(group.discovery, ["endpointslices"], follow),
    ],
    cluster: [...namespacesToWatch(manyNamespaces), ...callTargets(manyNamespaces)],
  };
}

function autoscalerRights(manyNamespaces: boolean): AccountRights {
  return {
    account: accounts.autoscaler,
    platform: [rule(group.leases, ["leases"], ["get", "create", "update"])],
    functions: [
      rule(group.weir, ["functions"], read),
      rule(group.weir, ["functions/scale"], ["get", "patch"]),
      rule(group.weir, ["functions/status"], ["patch"]),
      rule(group.discovery, ["endpointslices"], follow),
      rule(group.metrics, ["pods"], ["list"]),
    ],
    cluster: [...namespacesToWatch(manyNamespaces), ...callTargets(manyNamespaces)],
  };
}

function operatorRights({ manyNamespaces, platformNamespace }: Pick<Platform, "manyNamespaces" | "platformNamespace">) {
  const weirKinds = ["functions", "profiles", "secrets"] as const;
  const guards = [
    rule(group.networking, ["networkpolicies"], manage),
    rule(group.core, ["resourcequotas", "limitranges"], manage),
  ];
  const bindable = accountsInFunctionNamespaces.map((account) =>
    clusterRoleName(platformNamespace, account, "functions"),
  );
  return {
    account: accounts.operator,
    platform: [
      rule(group.leases, ["leases"], ["get", "create", "update"]),
      rule(group.weir, weirKinds, read),
      rule(group.weir, statusOf(weirKinds), ["get", "patch", "update"]),
      rule(group.iam, iamKinds, read),
      rule(group.iam, statusOf(iamKinds), ["get", "patch", "update"]),
      // Copies of the secrets that functions name for their callbacks, for queue-workers.
      { ...rule(group.core, ["secrets"], ["get", "patch"]), resourceNames: [callbackSecretCopies.object] },
    ],
    functions: [
      rule(group.weir, ["functions"], [...read, "patch"]),
      rule(group.weir, ["functions/finalizers"], ["update"]),
      rule(group.weir, ["secrets"], [...read, "create", "update", "patch", "delete"]),
      rule(group.weir, ["functions/status", "secrets/status"], ["get", "patch", "update"]),
      // Those that lie where nobody reads them: their status says so.
      rule(group.weir, ["profiles"], follow),
      rule(group.iam, iamKinds, follow),
      rule(group.weir, ["profiles/status"], ["patch"]),
      rule(group.iam, statusOf(iamKinds), ["patch"]),
      rule(group.apps, ["deployments"], manage),
      rule(group.core, ["services"], manage),
      rule(group.discovery, ["endpointslices"], follow),
      rule(group.core, ["pods"], follow),
      rule(group.core, ["events"], ["create"]),
      // To refuse functions that name an account that does not exist or has rights of the platform.
      rule(group.core, ["serviceaccounts"], ["get"]),
      rule(group.rbac, ["rolebindings"], ["list"]),
      // The only account that reads secret values: it mounts them, and reports which keys exist.
      rule(group.core, ["secrets"], ["get", "list"]),
      ...guards,
    ],
    cluster: manyNamespaces
      ? [
          rule(group.core, ["namespaces"], read),
          rule(group.weir, ["functions", "secrets", "profiles"], follow),
          rule(group.iam, iamKinds, follow),
          rule(group.apps, ["deployments"], follow),
          rule(group.core, ["services", "pods"], follow),
          ...guards,
          rule(group.rbac, ["rolebindings"], manage),
          { ...rule(group.rbac, ["clusterroles"], ["bind"]), resourceNames: bindable },
        ]
      : [],
  };
}

function queueDoctorRights(): AccountRights {
  return {
    account: accounts.queueDoctor,
    platform: [{ ...rule(group.core, ["pods"], ["get", "delete"]), resourceNames: natsPodNames }],
    functions: [],
    cluster: [],
  };
}

function historyRights(manyNamespaces: boolean): AccountRights {
  const pods = rule(group.core, ["pods"], follow);
  return {
    account: accounts.history,
    platform: [],
    functions: [pods, rule(group.core, ["pods/log"], ["get"])],
    cluster: manyNamespaces ? [...namespacesToWatch(manyNamespaces), pods] : [],
  };
}

function namespacesToWatch(manyNamespaces: boolean): Rule[] {
  return manyNamespaces ? [rule(group.core, ["namespaces"], follow)] : [];
}

/** One cluster-wide watch per kind: one per namespace would need thousands of connections. */
function callTargets(manyNamespaces: boolean): Rule[] {
  return manyNamespaces
    ? [rule(group.weir, ["functions"], follow), rule(group.discovery, ["endpointslices"], follow)]
    : [];
}

function statusOf(kinds: readonly string[]): string[] {
  return kinds.map((kind) => `${kind}/status`);
}

function rule(apiGroup: string, resources: readonly string[], verbs: readonly string[]): Rule {
  return { apiGroups: [apiGroup], resources, verbs };
}
