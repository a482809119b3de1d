import { managedByWeir, objectAnnotation, objectLabel } from "../../../api/names.ts";
import { lastApplied, type KubeObject, type ObjectMeta } from "../client/kube-types.ts";

/**
 * A core Secret at one version, without its values. A writer that may not read the Secret replaces the values, sends
 * the rest as it is here, and is refused when the Secret has changed.
 */
export interface SecretOutline extends Pick<ObjectMeta, "labels" | "annotations" | "finalizers" | "ownerReferences"> {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly keys: readonly string[];
  /** There is more than an annotation can hold: labels and the other metadata are absent here. */
  readonly isTooLarge?: true;
}

/** All annotations of an object together may have 256 KiB. */
const mostCharacters = 100_000;

/** Annotation of the reference beside a core Secret with that metadata. */
export function outlineText(metadata: ObjectMeta, keys: readonly string[]): string {
  const { uid = "", resourceVersion = "", labels, finalizers, ownerReferences } = metadata;
  // kubectl's copy of the object contains the values.
  const { [lastApplied]: _values, ...annotations } = metadata.annotations ?? {};
  const known = { uid, resourceVersion, keys };
  const outline: SecretOutline = {
    ...known,
    ...(labels === undefined ? {} : { labels }),
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    ...(finalizers === undefined ? {} : { finalizers }),
    ...(ownerReferences === undefined ? {} : { ownerReferences }),
  };
  const text = JSON.stringify(outline);
  return text.length <= mostCharacters ? text : JSON.stringify({ ...known, isTooLarge: true });
}

/** Undefined when there is none, or it is malformed: people may write the annotation, too. */
export function readOutline(reference: KubeObject): SecretOutline | undefined {
  const text = reference.metadata.annotations?.[objectAnnotation.outline];
  if (text === undefined) return undefined;
  try {
    const outline: unknown = JSON.parse(text);
    return isOutline(outline) ? outline : undefined;
  } catch {
    return undefined;
  }
}

/** Metadata of the new core Secret, which may replace only the one at the version of the outline. */
export function metadataKept({ uid, resourceVersion, labels, annotations, finalizers }: SecretOutline): ObjectMeta {
  return {
    uid,
    resourceVersion,
    labels: { ...labels, [objectLabel.managedBy]: managedByWeir },
    ...(annotations === undefined ? {} : { annotations }),
    ...(finalizers === undefined ? {} : { finalizers }),
  };
}

/** Checks only the fields that are used here; the API server checks the others when they are sent back. */
function isOutline(value: unknown): value is SecretOutline {
  if (typeof value !== "object" || value === null) return false;
  const { uid, resourceVersion, keys } = value as Partial<Record<keyof SecretOutline, unknown>>;
  const hasNames = Array.isArray(keys) && keys.every((key) => typeof key === "string");
  return typeof uid === "string" && typeof resourceVersion === "string" && resourceVersion !== "" && hasNames;
}
