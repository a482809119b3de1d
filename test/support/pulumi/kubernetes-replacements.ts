import { startsWith, type Properties, type PropertyPath } from "./property-values.ts";

/** Immutable fields by `group/Kind`: the table of the real plugin, for the kinds that programs here use. */
const immutableFields: Readonly<Record<string, readonly string[]>> = {
  "apps/Deployment": ["spec.selector"],
  "apps/StatefulSet": [
    "spec.podManagementPolicy",
    "spec.revisionHistoryLimit",
    "spec.selector",
    "spec.serviceName",
    "spec.volumeClaimTemplates",
  ],
  "batch/Job": ["spec.completions", "spec.parallelism", "spec.selector", "spec.template"],
  "rbac.authorization.k8s.io/ClusterRoleBinding": ["roleRef"],
  "rbac.authorization.k8s.io/RoleBinding": ["roleRef"],
  "storage.k8s.io/StorageClass": ["parameters", "provisioner"],
  "/PersistentVolumeClaim": ["spec"],
  "/Pod": ["spec"],
  "/ResourceQuota": ["spec.scopes"],
  "/Service": ["spec.clusterIP"],
};

/** The program's settings for the two kinds whose content the real plugin treats as immutable. */
export interface MutableKinds {
  readonly enableConfigMapMutable: boolean;
  readonly enableSecretMutable: boolean;
}

/** The changes that require a new object. */
export function replacingChanges(
  changes: readonly PropertyPath[],
  news: Properties,
  mutable: MutableKinds,
): readonly PropertyPath[] {
  const [, group = ""] = /^(?:(.*)\/)?[^/]+$/.exec(String(news["apiVersion"])) ?? [];
  const fields = [
    "metadata.name",
    "metadata.namespace",
    ...(immutableFields[`${group}/${String(news["kind"])}`] ?? []),
    ...contentFields(news, mutable),
  ].map((field) => field.split("."));
  return changes.filter((path) => fields.some((field) => startsWith(path, field)));
}

function contentFields({ apiVersion, kind, immutable }: Properties, mutable: MutableKinds): readonly string[] {
  if (apiVersion !== "v1") return [];
  if (kind === "ConfigMap") {
    return mutable.enableConfigMapMutable && immutable !== true ? ["immutable"] : ["data", "binaryData", "immutable"];
  }
  if (kind !== "Secret") return [];
  return mutable.enableSecretMutable && immutable !== true
    ? ["type", "immutable"]
    : ["type", "data", "stringData", "immutable"];
}
