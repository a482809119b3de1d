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
        /** Absent `ready` means yes; one that is terminating is not ready. */
        readonly conditions?: { readonly ready?: boolean | null; readonly terminating?: boolean | null };
      }[]
    | null;
  readonly ports?: readonly { readonly name?: string | null; readonly port?: number | null }[] | null;
}

/** What is kept of a slice: whose it is, and where ready pods answer. */
export interface SliceAddresses {
  readonly function: string | undefined;
  /** `host:port`. */
  readonly addresses: readonly string[];
}

/** Of a slice, the Service that it belongs to. */
export const serviceNameLabel = "kubernetes.io/service-name";

/**
 * The ready addresses of one slice (Kubernetes API, EndpointConditions), of which the first of an endpoint counts. A
 * slice of another Service than the function's own is nobody's, whatever labels it has.
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
