import type { Platform } from "./platform.ts";
import { bytesOfSize } from "./sizes.ts";

/** Share of a disk for the store; the server needs the rest to compact and recover. */
const storeShare = 0.7;

/** Settings of the queue-doctor that are derived from the broker's options. */
export function brokerFacts({ replicas, storage }: Platform["nats"]) {
  return {
    natsReplicas: replicas,
    durability: replicas === "3" ? "cluster" : "always",
    maxFileStore: Math.floor(bytesOfSize(storage) * storeShare),
  } as const;
}

/** Problems across options; each names key, value and rule. */
export function optionRules(
  options: Pick<Platform, "nats" | "gateway" | "ingress" | "httpRoute" | "platformNamespace">,
): string[] {
  const { nats, gateway, ingress, httpRoute } = options;
  const problems: string[] = [];
  if (nats.monitorUrl.length > 0 && nats.url === undefined)
    problems.push(`nats.monitorUrl: expected nats.url with it, got "${nats.monitorUrl.join(",")}" alone`);
  const { serviceType, loadBalancerClass, loadBalancerSourceRanges: ranges } = gateway;
  if (serviceType !== "LoadBalancer") {
    const needed = `expected gateway.serviceType LoadBalancer with it, got ${serviceType}`;
    if (loadBalancerClass !== undefined) problems.push(`gateway.loadBalancerClass: ${needed}`);
    if (ranges.length > 0) problems.push(`gateway.loadBalancerSourceRanges: ${needed}`);
  }
  const { host, gateway: parent, ...rest } = httpRoute;
  if (host !== undefined && parent === undefined)
    problems.push("httpRoute.host: expected httpRoute.gateway with it, got none");
  for (const [key, value] of Object.entries({ gateway: parent, ...rest }))
    if (value !== undefined && host === undefined)
      problems.push(`httpRoute.${key}: expected httpRoute.host with it, got none`);
  problems.push(...ingressProblems("ingress", ingress));
  return problems;
}

/** Problems across the options of an Ingress, which are those of this group. */
export function ingressProblems(
  group: string,
  options: Pick<Platform["ingress"], "host" | "className" | "tlsSecret" | "clusterIssuer">,
): string[] {
  const { host, tlsSecret, clusterIssuer } = options;
  if (host === undefined)
    return (["className", "tlsSecret", "clusterIssuer"] as const)
      .filter((key) => options[key] !== undefined)
      .map((key) => `${group}.${key}: expected ${group}.host with it, got none`);
  return tlsSecret === undefined || clusterIssuer === undefined
    ? []
    : [`${group}.clusterIssuer: expected it or ${group}.tlsSecret, got both`];
}
