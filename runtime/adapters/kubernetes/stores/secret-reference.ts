import { managedByWeir, objectLabel } from "../../../api/names.ts";
import type { SecretSpec } from "../../../api/resources/secret-resource.ts";
import type { KubeClient } from "../client/client.ts";
import { apiVersionOf, kinds } from "../client/kinds.ts";
import type { KubeObject } from "../client/kube-types.ts";

/** A `Secret` of `service.com`: which core Secret functions may name, never a value. */
export interface SecretReference extends KubeObject {
  readonly spec: SecretSpec;
}

/** A core Secret. */
export interface CoreSecret extends KubeObject {
  readonly type?: string;
  /** Base64. */
  readonly data?: Readonly<Record<string, string>>;
}

/** Type of core Secrets that are made by request. */
export const plainType = "Opaque";

/**
 * The reference that belongs beside a core Secret, which it goes with; undefined for one without the platform's label:
 * that is nobody's business. It has the uid, by which requests may change the secret, only if nothing else speaks
 * against that: its type is plain, and nobody else owns it.
 */
export function secretReference({ metadata, type, data = {} }: CoreSecret): SecretReference | undefined {
  const { name = "", namespace = "", uid = "", labels = {}, ownerReferences = [] } = metadata;
  if (labels[objectLabel.managedBy] !== managedByWeir) return undefined;
  const isOurs = type === plainType && ownerReferences.length === 0;
  const owner = { apiVersion: apiVersionOf(kinds.coreSecret), kind: kinds.coreSecret.kind, name, uid };
  return {
    metadata: {
      name,
      namespace,
      labels: { [objectLabel.managedBy]: managedByWeir },
      ownerReferences: [owner],
    },
    spec: { secretRef: { name, ...(isOurs ? { uid } : {}) }, keys: Object.keys(data).sort() },
  };
}

/** Makes the reference true; who applies it owns its fields from then on. Throws as the client does. */
export async function applySecretReference(client: KubeClient, reference: SecretReference): Promise<void> {
  const { namespace = "", name = "" } = reference.metadata;
  await client.apply(kinds.secretReference, reference, { namespace, name }, { force: true });
}
