import { managedByWeir, namespaceMarker, objectAnnotation, objectLabel } from "../../../api/names.ts";
import { PlatformError } from "../../../api/platform-error.ts";
import { keyValue } from "../../../core/labels/keys.ts";
import type { NamespaceEntry } from "../../../core/ports/namespace-store.ts";
import type { KubeObject } from "../client/kube-types.ts";

/** What functions may be, enforced by the API server (Kubernetes pod security standards). */
const podSecurity = "pod-security.kubernetes.io/enforce";

type Texts = Readonly<Record<string, string>>;

/**
 * Keys of Kubernetes and of the platform are hidden and stay as they are: they decide what pods of the namespace may.
 * @throws PlatformError `validation_failed`
 */
export function checkNamespaceKeys({ name, labels, annotations }: NamespaceEntry): void {
  const key = [labels, annotations].flatMap(Object.keys).find(isOurs);
  if (key === undefined) return;
  const sentence = `Cannot write namespace "${name}": key ${JSON.stringify(key)} is for the platform and Kubernetes alone`;
  throw new PlatformError("validation_failed", sentence);
}

/** What is written for the platform or by Kubernetes, and nobody's who asks for the namespace. */
function isOurs(key: string): boolean {
  return key.startsWith("service.com/") || /^(?:[^/]*\.)?(?:kubernetes|k8s)\.io\//.test(key);
}

function others(texts: Texts = {}): Texts {
  return Object.fromEntries(Object.entries(texts).filter(([key]) => !isOurs(key)));
}

function ours(texts: Texts = {}): Texts {
  return Object.fromEntries(Object.entries(texts).filter(([key]) => isOurs(key)));
}

/** Whose namespaces they are. */
export interface NamespacePlaces {
  readonly defaultNamespace?: string;
  /** That of the platform; absent: those of any platform are seen. */
  readonly platformNamespace?: string;
}

/**
 * A namespace of functions as clients see it; undefined for one without marker, and for one of another platform. The
 * default one is one anyhow: it may have been there before the platform.
 */
export function namespaceEntry({ metadata }: KubeObject, places: NamespacePlaces = {}): NamespaceEntry | undefined {
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

/** The namespace that an entry asks for; of `current` everything stays that is hidden. */
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
