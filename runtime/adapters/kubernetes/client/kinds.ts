/** Where the API server serves the objects of one kind. */
export interface Kind {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

function kind(group: string, version: string, name: string, plural: string, namespaced = true): Kind {
  return { group, version, kind: name, plural, namespaced };
}

/** Every kind that Weir reads or writes. */
export const kinds = {
  function: kind("service.com", "v1", "Function", "functions"),
  profile: kind("service.com", "v1", "Profile", "profiles"),
  secretReference: kind("service.com", "v1", "Secret", "secrets"),
  jwtIssuer: kind("iam.service.com", "v1", "JwtIssuer", "jwtissuers"),
  policy: kind("iam.service.com", "v1", "Policy", "policies"),
  role: kind("iam.service.com", "v1", "Role", "roles"),

  configMap: kind("", "v1", "ConfigMap", "configmaps"),
  coreSecret: kind("", "v1", "Secret", "secrets"),
  event: kind("", "v1", "Event", "events"),
  limitRange: kind("", "v1", "LimitRange", "limitranges"),
  namespace: kind("", "v1", "Namespace", "namespaces", false),
  pod: kind("", "v1", "Pod", "pods"),
  resourceQuota: kind("", "v1", "ResourceQuota", "resourcequotas"),
  service: kind("", "v1", "Service", "services"),
  serviceAccount: kind("", "v1", "ServiceAccount", "serviceaccounts"),
  deployment: kind("apps", "v1", "Deployment", "deployments"),
  replicaSet: kind("apps", "v1", "ReplicaSet", "replicasets"),
  endpointSlice: kind("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices"),
  lease: kind("coordination.k8s.io", "v1", "Lease", "leases"),
  networkPolicy: kind("networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies"),
  podMetrics: kind("metrics.k8s.io", "v1beta1", "PodMetrics", "pods"),
  clusterRole: kind("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", false),
  roleBinding: kind("rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings"),
  customResourceDefinition: kind(
    "apiextensions.k8s.io",
    "v1",
    "CustomResourceDefinition",
    "customresourcedefinitions",
    false,
  ),
  selfSubjectAccessReview: kind(
    "authorization.k8s.io",
    "v1",
    "SelfSubjectAccessReview",
    "selfsubjectaccessreviews",
    false,
  ),
} as const satisfies Readonly<Record<string, Kind>>;

/** `apiVersion` as objects of the kind carry it. */
export function apiVersionOf({ group, version }: Kind): string {
  return group === "" ? version : `${group}/${version}`;
}

/** Which object, or which part of one. */
export interface Place {
  readonly namespace?: string;
  readonly name?: string;
  /** E.g. `status`, `scale`, `log`, `token`. */
  readonly subresource?: string;
}

/** Query parameters of a request; those that are undefined are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * The path, with the query, of an object, its subresource or, without `name`, all objects of a kind in one namespace or
 * everywhere.
 */
export function pathOf(of: Kind, { namespace, name, subresource }: Place = {}, query: Query = {}): string {
  const root = of.group === "" ? `/api/${of.version}` : `/apis/${of.group}/${of.version}`;
  const parts = [
    ...(namespace === undefined || !of.namespaced ? [] : ["namespaces", namespace]),
    of.plural,
    ...(name === undefined ? [] : [name]),
    ...(subresource === undefined ? [] : [subresource]),
  ];
  const path = `${root}/${parts.map(encodeURIComponent).join("/")}`;
  const pairs = Object.entries(query).flatMap(([key, value]) => (value === undefined ? [] : [[key, String(value)]]));
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs).toString()}`;
}

/** A place in words: `Function "dev/echo"`, `functions "dev"`, `log of Pod "dev/echo-1"`. */
export function placeText(of: Kind, { namespace, name, subresource }: Place): string {
  const place = [namespace, name].filter((part) => part !== undefined).join("/");
  const what = name === undefined ? of.plural : of.kind;
  return `${subresource === undefined ? "" : `${subresource} of `}${what}${place === "" ? "" : ` "${place}"`}`;
}
