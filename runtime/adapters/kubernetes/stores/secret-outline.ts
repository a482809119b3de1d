import { managedByWeir, objectAnnotation, objectLabel } from "../../../api/names.ts";
import { lastApplied, type KubeObject, type ObjectMeta } from "../client/kube-types.ts";

/**
 * What a core Secret is like at one version, without its values: whoever replaces these and cannot read the rest sends
 * the rest as it is here, and is refused when that is no longer true.
 */
export interface SecretOutline extends Pick<ObjectMeta, "labels" | "annotations" | "finalizers" | "ownerReferences"> {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly keys: readonly string[];
  /** There is more than an annotation holds: labels and the rest are absent here. */
  readonly isTooLarge?: true;
}

/** All annotations of an object may have 256 KiB. */
const mostCharacters = 100_000;

/** The annotation of the `Secret` object beside a core Secret of that metadata. */
export function outlineText(metadata: ObjectMeta, keys: readonly string[]): string {
  const { uid = "", resourceVersion = "", labels, finalizers, ownerReferences } = metadata;
  // The copy that kubectl makes has the values in it.
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

/** Undefined where there is none, or what is there is none: people can write it. */
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

/** Metadata of the core Secret that replaces the one of `outline`, and it alone. */
export function metadataKept({ uid, resourceVersion, labels, annotations, finalizers }: SecretOutline): ObjectMeta {
  return {
    uid,
    resourceVersion,
    labels: { ...labels, [objectLabel.managedBy]: managedByWeir },
    ...(annotations === undefined ? {} : { annotations }),
    ...(finalizers === undefined ? {} : { finalizers }),
  };
}

/** The parts that are sent back; the API server checks what is in them. */
function isOutline(value: unknown): value is SecretOutline {
  if (typeof value !== "object" || value === null) return false;
  const { uid, resourceVersion, keys } = value as Partial<Record<keyof SecretOutline, unknown>>;
  const hasNames = Array.isArray(keys) && keys.every((key) => typeof key === "string");
  return typeof uid === "string" && typeof resourceVersion === "string" && resourceVersion !== "" && hasNames;
}
