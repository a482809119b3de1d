import { brokerObjects, brokerPodHost } from "../../../runtime/api/broker/broker-pods.ts";
import type { Platform } from "../platform.ts";

/** Ports of a server: clients, other servers, monitoring. */
export const natsPort = { client: 4_222, route: 6_222, monitor: 8_222 } as const;

/** Names of the StatefulSet with the client Service, and of the Service that names each pod. */
export const natsNames = { ...brokerObjects, config: "nats-config" } as const;

/** Names of the pods, whatever the number of them is now. */
export const natsPodNames: readonly string[] = ["nats-0", "nats-1", "nats-2"];

/** Addresses that clients use: the Service, or the broker that runs elsewhere. */
export function natsUrl({ nats, platformNamespace, clusterDomain }: Platform): string {
  const scheme = nats.tls ? "tls" : "nats";
  return (
    nats.url ?? `${scheme}://${natsNames.statefulSet}.${platformNamespace}.svc.${clusterDomain}:${natsPort.client}`
  );
}

/** Name of one server's pod in the cluster. */
export function natsPodHost({ platformNamespace, clusterDomain }: Platform, pod: string): string {
  return brokerPodHost(pod, platformNamespace, clusterDomain);
}

/** Names of the servers there shall be. */
export function natsPods({ nats }: Platform): readonly string[] {
  return natsPodNames.slice(0, Number(nats.replicas));
}

/** Where the monitoring of each server answers. */
export function natsMonitorUrls(platform: Platform): readonly string[] {
  if (platform.nats.url !== undefined) return platform.nats.monitorUrl;
  return natsPods(platform).map((pod) => `http://${natsPodHost(platform, pod)}:${natsPort.monitor}`);
}

/** All names by which a server may be called, of as many servers as there may be. */
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
