import { iamApiVersion, type IamKind } from "../../../runtime/api/iam/iam-schemas.ts";
import type { KubernetesObject } from "../kubernetes-object.ts";
import type { Platform } from "../platform.ts";

/** The issuers, policies and roles of the stack; others may be created besides. */
export function iamManifests({ iam, platformNamespace: namespace }: Platform): KubernetesObject[] {
  const objects = (kind: IamKind, specs: Readonly<Record<string, object>>) =>
    Object.entries(specs).map(([name, spec]) => ({
      apiVersion: iamApiVersion,
      kind,
      metadata: { name, namespace, labels: { "app.kubernetes.io/part-of": "weir" } },
      spec,
    }));
  return [...objects("JwtIssuer", iam.issuers), ...objects("Policy", iam.policies), ...objects("Role", iam.roles)];
}
