import { isIP } from "node:net";

import type { Platform } from "../platform.ts";

/** Where the proxy for issuers and callbacks is. */
export type ProxyPlace =
  | { readonly kind: "namespace"; readonly namespace: string }
  | { readonly kind: "address"; readonly cidr: string; readonly port: number };

/**
 * Where network policies must let connections go besides everything outside the cluster: to the namespace of a proxy in
 * the cluster, or to an address. A name outside is covered.
 */
export function proxyPlace({ clusterDomain, settings: { queueWorker } }: Platform): ProxyPlace | undefined {
  if (queueWorker.egressProxy === undefined) return undefined;
  const url = new URL(queueWorker.egressProxy);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0) {
    const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
    return { kind: "address", cidr: `${host}/${host.includes(":") ? 128 : 32}`, port };
  }
  const [, namespace, ...rest] = host.replace(/\.$/, "").split(".");
  const isInside = rest.length === 0 || ["svc", `svc.${clusterDomain}`].includes(rest.join("."));
  return namespace !== undefined && isInside ? { kind: "namespace", namespace } : undefined;
}

/** Names in the cluster, which no proxy leads to. */
export function namesInCluster(clusterDomain: string): readonly string[] {
  return [".svc", `.svc.${clusterDomain}`];
}
