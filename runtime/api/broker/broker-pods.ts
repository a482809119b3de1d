/** The StatefulSet of the broker, whose pods are `nats-0`, `nats-1`, …, and the Service that gives each pod a name. */
export const brokerObjects = { statefulSet: "nats", headless: "nats-headless" } as const;

/** Host of the pod of one server of the broker. */
export function brokerPodHost(pod: string, platformNamespace: string, clusterDomain: string): string {
  return `${pod}.${brokerObjects.headless}.${platformNamespace}.svc.${clusterDomain}`;
}

/** The pod of the server with that host; undefined if it is not one of the platform's own. */
export function brokerPodOf(host: string, platformNamespace: string): string | undefined {
  const [pod = "", service, namespace, kind] = host.split(".");
  const isOurs = service === brokerObjects.headless && namespace === platformNamespace && kind === "svc";
  return isOurs && pod.startsWith(`${brokerObjects.statefulSet}-`) ? pod : undefined;
}
