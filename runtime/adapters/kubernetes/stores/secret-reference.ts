import { managedByWeir, objectAnnotation, objectLabel } from "../../../api/names.ts";
import type { SecretSpec } from "../../../api/resources/secret-resource.ts";
import type { KubeClient } from "../client/client.ts";
import { apiVersionOf, kinds } from "../client/kinds.ts";
import type { KubeCondition, KubeObject } from "../client/kube-types.ts";
import { outlineText } from "./secret-outline.ts";

/** A `Secret` of `service.com`: it names a core Secret that functions may use, and never holds a value. */
export interface ReferringSecret extends KubeObject {
  readonly spec: SecretSpec;
  readonly status?: { readonly conditions?: readonly KubeCondition[] };
}

/** Reasons of its condition `Ready` that no change of the core Secret can resolve. */
export const secretIsLost: ReadonlySet<string> = new Set(["SecretNotFound", "SecretReplaced"]);

/** A core Secret. */
export interface CoreSecret extends KubeObject {
  readonly type?: string;
  /** Base64. */
  readonly data?: Readonly<Record<string, string>>;
}

/** Type of core Secrets that are created by request. */
export const plainType = "Opaque";

/**
 * The reference that belongs beside a core Secret, and is deleted with it; undefined for a core Secret without the
 * platform's label, which is not for functions. The reference has the uid, by which requests may change the secret,
 * only if the core Secret is of type `Opaque` and has no owner. With the uid it has an outline of the core Secret.
 */
export function secretReference({ metadata, type, data = {} }: CoreSecret): ReferringSecret | undefined {
  const { name = "", namespace = "", uid = "", labels = {}, ownerReferences = [] } = metadata;
  if (labels[objectLabel.managedBy] !== managedByWeir) return undefined;
  const isOurs = type === plainType && ownerReferences.length === 0;
  const keys = Object.keys(data).sort();
  const owner = { apiVersion: apiVersionOf(kinds.coreSecret), kind: kinds.coreSecret.kind, name, uid };
  return {
    metadata: {
      name,
      namespace,
      labels: { [objectLabel.managedBy]: managedByWeir },
      ...(isOurs ? { annotations: { [objectAnnotation.outline]: outlineText(metadata, keys) } } : {}),
      ownerReferences: [owner],
    },
    spec: { secretRef: { name, ...(isOurs ? { uid } : {}) }, keys },
  };
}

/** Applies the reference; the client that does so owns its fields from then on. Throws as the client does. */
export async function applySecretReference(client: KubeClient, reference: ReferringSecret): Promise<void> {
  const { namespace = "", name = "" } = reference.metadata;
  await client.apply(kinds.secretReference, reference, { namespace, name }, { force: true });
}
