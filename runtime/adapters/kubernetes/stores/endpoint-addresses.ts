import { isIPv6 } from "node:net";

import { functionLabel } from "../../../api/names.ts";
import type { KubeObject } from "../client/kube-types.ts";
import { objectName } from "../manifests/object-names.ts";

/** `discovery.k8s.io/v1` EndpointSlice, as far as it is read. */
export interface EndpointSlice extends KubeObject {
  /** Null when the Service has no pods. */
  readonly endpoints?:
    | readonly {
        readonly addresses: readonly string[];
        /** Absent `ready` means ready; a terminating endpoint is not. */
        readonly conditions?: { readonly ready?: boolean | null; readonly terminating?: boolean | null };
      }[]
    | null;
  readonly ports?: readonly { readonly name?: string | null; readonly port?: number | null }[] | null;
}

/** What is kept of a slice: its function, and the addresses of ready pods. */
export interface SliceAddresses {
  readonly function: string | undefined;
  /** `host:port`. */
  readonly addresses: readonly string[];
}

/** Label of a slice that names its Service. */
export const serviceNameLabel = "kubernetes.io/service-name";

/**
 * The ready addresses of one slice (Kubernetes API, EndpointConditions): the first one of each endpoint. A slice of any
 * Service but the function's own belongs to no function, whatever labels it has.
 */
export function sliceAddresses({ metadata, endpoints, ports }: EndpointSlice): SliceAddresses {
  const name = metadata.labels?.[functionLabel];
  const isOwn = name !== undefined && metadata.labels?.[serviceNameLabel] === objectName(name);
  const port = ports?.[0]?.port ?? undefined;
  if (!isOwn || port === undefined) return { function: isOwn ? name : undefined, addresses: [] };
  const ready = (endpoints ?? []).filter(
    ({ conditions }) => (conditions?.ready ?? true) && conditions?.terminating !== true,
  );
  const hosts = ready.flatMap(({ addresses }) => addresses.slice(0, 1));
  return { function: name, addresses: hosts.map((host) => `${isIPv6(host) ? `[${host}]` : host}:${port}`) };
}
