import { functionLabel } from "../../../api/names.ts";
import { keptWithOwners } from "./kept-object.ts";
import type { KubeObject } from "../client/kube-types.ts";
import type { ObservedDeployment } from "../manifests/status/observed-objects.ts";

/** What is read of a Deployment: what is compared with what is wanted, too. */
export interface KeptDeployment extends ObservedDeployment {
  readonly apiVersion?: string;
  readonly kind?: string;
}

/** A Deployment as text, beside which function it is of: as an object it takes three times the memory, and is seldom looked at. */
export interface PackedDeployment {
  readonly metadata: Pick<KubeObject["metadata"], "namespace" | "labels">;
  readonly text: string;
}

/** `manager` writes for the platform: what others own of the description is kept, too. */
export function packDeployment(deployment: KeptDeployment & KubeObject, manager: string): PackedDeployment {
  const { namespace, labels } = deployment.metadata;
  const of = labels?.[functionLabel];
  return {
    metadata: {
      ...(namespace === undefined ? {} : { namespace }),
      ...(of === undefined ? {} : { labels: { [functionLabel]: of } }),
    },
    text: JSON.stringify(keptWithOwners(deployment, manager)),
  };
}

export function unpackDeployment({ text }: PackedDeployment): KeptDeployment {
  return JSON.parse(text) as KeptDeployment;
}
