import { deflateRawSync, inflateRawSync } from "node:zlib";

import { functionLabel } from "../../../api/names.ts";
import { keptWithOwners } from "./kept-object.ts";
import type { KubeObject } from "../client/kube-types.ts";
import type { ObservedDeployment } from "../manifests/status/observed-objects.ts";

/** What is read of a Deployment, including what is compared with the wanted one. */
export interface KeptDeployment extends ObservedDeployment {
  readonly apiVersion?: string;
  readonly kind?: string;
}

/**
 * A compressed Deployment and the function it is of: as an object it takes six times the memory, and is seldom read.
 */
export interface PackedDeployment {
  readonly metadata: Pick<KubeObject["metadata"], "namespace" | "labels">;
  /** One byte per character, as short strings cost less than short buffers. */
  readonly packed: string;
}

/** `manager` writes for the platform: which fields of the spec others own is kept, too. */
export function packDeployment(deployment: KeptDeployment & KubeObject, manager: string): PackedDeployment {
  const { namespace, labels } = deployment.metadata;
  const functionName = labels?.[functionLabel];
  return {
    metadata: {
      ...(namespace === undefined ? {} : { namespace }),
      ...(functionName === undefined ? {} : { labels: { [functionLabel]: functionName } }),
    },
    packed: deflateRawSync(JSON.stringify(keptWithOwners(deployment, manager))).toString("latin1"),
  };
}

export function unpackDeployment({ packed }: PackedDeployment): KeptDeployment {
  return JSON.parse(inflateRawSync(Buffer.from(packed, "latin1")).toString("utf8")) as KeptDeployment;
}
