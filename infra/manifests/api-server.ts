import type { Platform } from "./platform.ts";

/** Where the API server is for the pods of the platform, as far as that is known. */
export type ApiServer = Platform["apiServer"];

/** Namespace and name of the Service, and of the EndpointSlice, that every API server keeps of itself. */
export const apiServerObject = { namespace: "default", name: "kubernetes" } as const;

/** Port of that Service: it is not to be chosen. */
const servicePort = 443;
/** Where API servers listen as a rule. */
const usualPorts = [443, 6_443];

/** Whom processes speak to: networks judge a connection by the address of the Service, or by the one behind it. */
export interface ApiServerFlow {
  readonly cidrs: readonly string[] | undefined;
  readonly ports: readonly number[];
}

/** What processes have to reach for the API server, as narrow as what is known of it. */
export function apiServerFlows({ ports, serviceAddresses, ranges }: ApiServer): ApiServerFlow[] {
  const listening = ports.length === 0 ? usualPorts : ports.map(Number).toSorted((a, b) => a - b);
  const servers = { cidrs: ranges.length === 0 ? undefined : ranges, ports: [...new Set(listening)] };
  const service = { cidrs: serviceAddresses.map(hostRange), ports: [servicePort] };
  if (service.cidrs.length > 0) return [service, servers];
  return servers.cidrs === undefined
    ? [{ ...servers, ports: [...new Set([servicePort, ...servers.ports])] }]
    : [{ cidrs: undefined, ports: service.ports }, servers];
}

function hostRange(address: string): string {
  return `${address}/${address.includes(":") ? 128 : 32}`;
}
