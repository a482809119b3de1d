/** Facts that the gateway's own origins are derived from. */
export interface OriginFacts {
  readonly platformNamespace: string;
  /** Address of the gateway for code in the cluster. */
  readonly clusterGatewayUrl: string;
  /** Public addresses of the gateway, as far as set. */
  readonly publicUrls: readonly (string | undefined)[];
}

/** Origins of the gateway itself, by short, full and public names (contract §1.1); callbacks may always go there. */
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

/** Default TCP ports of a container engine: unencrypted, and with TLS. */
const defaultEnginePorts = [2_375, 2_376];

/** Ports of the container engine, which give control of the machine; `dockerHost` is the value of `DOCKER_HOST`. */
export function enginePorts(dockerHost: string | undefined): number[] {
  const port = Number(URL.parse(dockerHost ?? "")?.port ?? "");
  return port > 0 && !defaultEnginePorts.includes(port) ? [...defaultEnginePorts, port] : defaultEnginePorts;
}
