import { brokerAddresses } from "../../../runtime/api/broker/broker-addresses.ts";
import { brokerObjects, brokerPodHost } from "../../../runtime/api/broker/broker-pods.ts";
import type { Platform } from "../platform.ts";

/** Ports of a server: clients, other servers, monitoring. */
export const natsPort = { client: 4_222, route: 6_222, monitor: 8_222 } as const;

/** Names of the StatefulSet and its client Service, and of the headless Service that names each pod. */
export const natsNames = { ...brokerObjects, config: "nats-config" } as const;

/** Names of all possible pods, regardless of the current number. */
export const natsPodNames: readonly string[] = ["nats-0", "nats-1", "nats-2"];

/**
 * Addresses that clients use: the Service, the pods if there are several, or the broker that runs elsewhere. A Service
 * still leads to a pod that hangs until its probes fail; who knows the pods leaves it at once.
 */
export function natsUrl(platform: Platform): string {
  const { nats, platformNamespace, clusterDomain } = platform;
  if (nats.url !== undefined) return brokerAddresses(nats.url).join(",");
  const pods = natsPods(platform);
  const hosts =
    pods.length === 1
      ? [`${natsNames.statefulSet}.${platformNamespace}.svc.${clusterDomain}`]
      : pods.map((pod) => natsPodHost(platform, pod));
  return hosts.map((host) => `${nats.tls ? "tls" : "nats"}://${host}:${natsPort.client}`).join(",");
}

/** Host of one server's pod in the cluster. */
export function natsPodHost({ platformNamespace, clusterDomain }: Platform, pod: string): string {
  return brokerPodHost(pod, platformNamespace, clusterDomain);
}

/** Names of the desired servers. */
export function natsPods({ nats }: Platform): readonly string[] {
  return natsPodNames.slice(0, Number(nats.replicas));
}

/** Monitoring URL of each server. */
export function natsMonitorUrls(platform: Platform): readonly string[] {
  if (platform.nats.url !== undefined) return platform.nats.monitorUrl;
  return natsPods(platform).map((pod) => `http://${natsPodHost(platform, pod)}:${natsPort.monitor}`);
}

/** The same if there is one server: of several, one that has just started says nothing of the others. */
export function soleMonitorUrl(platform: Platform): readonly string[] {
  const urls = natsMonitorUrls(platform);
  return urls.length === 1 ? urls : [];
}

/** All host names under which a server may be reached, for all possible servers. */
export function natsHosts(platform: Platform): string[] {
  const { statefulSet } = natsNames;
  const { platformNamespace, clusterDomain } = platform;
  const service = `${statefulSet}.${platformNamespace}`;
  return [
    statefulSet,
    service,
    `${service}.svc`,
    `${service}.svc.${clusterDomain}`,
    ...natsPodNames.map((pod) => natsPodHost(platform, pod)),
  ];
}
