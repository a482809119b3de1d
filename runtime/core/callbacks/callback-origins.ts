/** What the gateway's own origins follow from. */
export interface OriginFacts {
  readonly platformNamespace: string;
  /** Address of the gateway for code in the cluster. */
  readonly clusterGatewayUrl: string;
  /** Addresses under which it is known outside, as far as set. */
  readonly publicUrls: readonly (string | undefined)[];
}

/** Origins of the gateway itself, to which callbacks may always go: long, short and outside names (contract §1.1). */
export function gatewayOrigins(facts: OriginFacts): string[] {
  const service = `gateway.${facts.platformNamespace}`;
  const urls = [
    facts.clusterGatewayUrl,
    `http://${service}:8080`,
    `http://${service}.svc.cluster.local:8080`,
    `http://${service}.svc.cluster.local.:8080`,
    ...facts.publicUrls,
  ];
  const origins = urls.map((url) => (url === undefined ? null : URL.parse(url))?.origin);
  return [...new Set(origins.filter((origin) => origin !== undefined))];
}

/** Where a container engine listens to TCP, plain and with TLS, unless told otherwise. */
const usualEnginePorts = [2_375, 2_376];

/** The ports of the container engine, whose holder holds the machine; `dockerHost` is `DOCKER_HOST`. */
export function enginePorts(dockerHost: string | undefined): number[] {
  const named = Number(URL.parse(dockerHost ?? "")?.port ?? "");
  return named > 0 && !usualEnginePorts.includes(named) ? [...usualEnginePorts, named] : usualEnginePorts;
}

/** The ports that addresses, separated by commas, name: those of the broker are closed to callbacks. */
export function portsOf(urls: string): number[] {
  return urls
    .split(",")
    .map((url) => Number(URL.parse(url.trim())?.port))
    .filter((port) => port > 0);
}
