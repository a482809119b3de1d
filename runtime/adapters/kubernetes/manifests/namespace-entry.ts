import { managedByWeir, namespaceMarker, objectAnnotation, objectLabel } from "../../../api/names.ts";
import { PlatformError } from "../../../api/platform-error.ts";
import { keyValue } from "../../../core/labels/keys.ts";
import type { NamespaceEntry } from "../../../core/ports/namespace-store.ts";
import type { KubeObject } from "../client/kube-types.ts";

/** Label that has the API server enforce a level on pods (Kubernetes pod security standards). */
const podSecurity = "pod-security.kubernetes.io/enforce";

type Texts = Readonly<Record<string, string>>;

/**
 * Refuses keys of Kubernetes and the platform, which are hidden: they decide what pods of the namespace may do.
 * @throws PlatformError `validation_failed`
 */
export function checkNamespaceKeys({ name, labels, annotations }: NamespaceEntry): void {
  const key = [labels, annotations].flatMap(Object.keys).find(isOurs);
  if (key === undefined) return;
  const sentence = `Cannot write namespace "${name}": key ${JSON.stringify(key)} is reserved for the platform and Kubernetes`;
  throw new PlatformError("validation_failed", sentence);
}

/** Whether a key is written by the platform or Kubernetes, and not by clients. */
function isOurs(key: string): boolean {
  return key.startsWith("service.com/") || /^(?:[^/]*\.)?(?:kubernetes|k8s)\.io\//.test(key);
}

function others(texts: Texts = {}): Texts {
  return Object.fromEntries(Object.entries(texts).filter(([key]) => !isOurs(key)));
}

function ours(texts: Texts = {}): Texts {
  return Object.fromEntries(Object.entries(texts).filter(([key]) => isOurs(key)));
}

/** Which namespaces belong to the platform. */
export interface NamespaceOwnership {
  readonly defaultNamespace?: string;
  /** Namespace of the platform itself; absent: function namespaces of any platform are seen. */
  readonly platformNamespace?: string;
}

/**
 * A function namespace as clients see it; undefined for one without the marker, and for one of another platform. The
 * default one needs no marker: it may have existed before the platform.
 */
export function namespaceEntry({ metadata }: KubeObject, places: NamespaceOwnership = {}): NamespaceEntry | undefined {
  const { name = "", labels = {}, annotations = {}, creationTimestamp = "", deletionTimestamp } = metadata;
  const { defaultNamespace, platformNamespace } = places;
  const owner = labels[objectLabel.platform];
  const isOfAnother = platformNamespace !== undefined && owner !== undefined && owner !== platformNamespace;
  if (name !== defaultNamespace && (isOfAnother || ![labels, annotations].some(isMarked))) return undefined;
  return {
    name,
    labels: others(labels),
    annotations: others(annotations),
    createdAt: annotations[objectAnnotation.createdAt] ?? creationTimestamp,
    deleting: deletionTimestamp !== undefined,
  };
}

function isMarked(texts: Texts): boolean {
  return (
    keyValue(texts, namespaceMarker.name) === namespaceMarker.value || Object.hasOwn(texts, namespaceMarker.foreignKey)
  );
}

/** The Namespace object for an entry; what is hidden stays as in `current`. */
export function namespaceObject(
  { name, labels, annotations, createdAt }: NamespaceEntry,
  current: KubeObject | undefined,
  platformNamespace?: string,
): KubeObject {
  const kept = current?.metadata;
  const made = {
    [objectLabel.managedBy]: managedByWeir,
    [podSecurity]: "restricted",
    ...(platformNamespace === undefined ? {} : { [objectLabel.platform]: platformNamespace }),
  };
  return {
    ...current,
    metadata: {
      ...kept,
      name,
      labels: { ...(current === undefined ? made : ours(kept?.labels)), ...labels },
      annotations: {
        ...ours(kept?.annotations),
        ...annotations,
        ...(current === undefined ? { [objectAnnotation.createdAt]: createdAt } : {}),
      },
    },
  };
}
