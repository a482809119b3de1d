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
        readonly targetRef?: { readonly kind?: string; readonly name?: string } | null;
        /** Absent `ready` means ready; a terminating endpoint is not. */
        readonly conditions?: { readonly ready?: boolean | null; readonly terminating?: boolean | null };
      }[]
    | null;
  readonly ports?: readonly { readonly name?: string | null; readonly port?: number | null }[] | null;
}

/** What is kept of a slice: its function, and where its ready pods are. */
export interface SliceAddresses {
  readonly function: string | undefined;
  /** Names of pods by `host:port`; undefined: it is not known. */
  readonly pods: ReadonlyMap<string, string | undefined>;
  /** Every other `host:port` of the slice: of pods that are not ready or end, and further addresses of those that are. */
  readonly others: readonly string[];
}

/** Label of a slice that names its Service. */
export const serviceNameLabel = "kubernetes.io/service-name";

/**
 * The ready pods of one slice (Kubernetes API, EndpointConditions), each at its first address. A slice of any
 * Service but the function's own belongs to no function, whatever labels it has.
 */
export function sliceAddresses({ metadata, endpoints, ports }: EndpointSlice): SliceAddresses {
  const name = metadata.labels?.[functionLabel];
  const isOwn = name !== undefined && metadata.labels?.[serviceNameLabel] === objectName(name);
  const port = ports?.[0]?.port ?? undefined;
  if (!isOwn || port === undefined) return { function: isOwn ? name : undefined, pods: new Map(), others: [] };
  const ready = (endpoints ?? []).filter(
    ({ conditions }) => (conditions?.ready ?? true) && conditions?.terminating !== true,
  );
  const pods = new Map(
    ready.flatMap(({ addresses, targetRef }) =>
      addresses.slice(0, 1).map((host) => [addressText(host, port), podName(targetRef)] as const),
    ),
  );
  const all = (endpoints ?? []).flatMap(({ addresses }) => addresses.map((host) => addressText(host, port)));
  return { function: name, pods, others: all.filter((address) => !pods.has(address)) };
}

function addressText(host: string, port: number): string {
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

function podName(target: { readonly kind?: string; readonly name?: string } | null | undefined): string | undefined {
  return target?.kind === "Pod" ? target.name : undefined;
}
