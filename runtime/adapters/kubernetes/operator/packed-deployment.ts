import { deflateRawSync, inflateRawSync } from "node:zlib";

import { functionLabel } from "../../../api/names.ts";
import { keptWithOwners } from "./kept-object.ts";
import type { KubeObject } from "../client/kube-types.ts";
import type { ObservedDeployment } from "../manifests/status/observed-objects.ts";

/** What is read of a Deployment: what is compared with what is wanted, too. */
export interface KeptDeployment extends ObservedDeployment {
  readonly apiVersion?: string;
  readonly kind?: string;
}

/** A Deployment that is compressed, beside which function it is of: as an object it takes six times the memory, and is seldom looked at. */
export interface PackedDeployment {
  readonly metadata: Pick<KubeObject["metadata"], "namespace" | "labels">;
  /** A byte for each character: short texts cost less than short buffers. */
  readonly packed: string;
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
    packed: deflateRawSync(JSON.stringify(keptWithOwners(deployment, manager))).toString("latin1"),
  };
}

export function unpackDeployment({ packed }: PackedDeployment): KeptDeployment {
  return JSON.parse(inflateRawSync(Buffer.from(packed, "latin1")).toString("utf8")) as KeptDeployment;
}
