import { hasClusterKeys } from "../../../runtime/api/iam/cluster-keys.ts";
import type { Platform } from "../platform.ts";

/**
 * Namespaces of the cluster in which issuers of the stack run: their pods are reached by namespace, as ranges outside do
 * not match pods everywhere, and leave out those of the cluster.
 */
export function issuerNamespaces({ iam, clusterDomain }: Pick<Platform, "iam" | "clusterDomain">): string[] {
  const found = Object.values(iam.issuers).flatMap(({ iss, issInternal }) =>
    hasClusterKeys(issInternal) ? [] : [iss, ...(issInternal === undefined ? [] : [issInternal])],
  );
  return [...new Set(found.flatMap((address) => namespaceOfService(address, clusterDomain)))].toSorted();
}

function namespaceOfService(address: string, clusterDomain: string): string[] {
  const host = URL.parse(address)?.hostname.replace(/\.$/, "") ?? "";
  const [, namespace, ...rest] = host.split(".");
  const domain = rest.join(".");
  return namespace !== undefined && (domain === "svc" || domain === `svc.${clusterDomain}`) ? [namespace] : [];
}
