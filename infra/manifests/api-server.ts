import type { Platform } from "./platform.ts";

/** Where the platform's pods reach the API server, as far as known. */
export type ApiServer = Platform["apiServer"];

/** Namespace and name of the Service, and of the EndpointSlice, that every API server keeps for itself. */
export const apiServerObject = { namespace: "default", name: "kubernetes" } as const;

/** Port of that Service, which is fixed. */
const servicePort = 443;
/** Ports on which API servers usually listen. */
const usualPorts = [443, 6_443];

/** A destination: some networks match connections by the address of the Service, others by the one behind it. */
export interface ApiServerFlow {
  readonly cidrs: readonly string[] | undefined;
  readonly ports: readonly number[];
}

/** What processes must be able to reach for the API server, as narrow as the known facts allow. */
export function apiServerFlows({ ports, serviceAddresses, ranges }: ApiServer): ApiServerFlow[] {
  const listenPorts = ports.length === 0 ? usualPorts : ports.map(Number).toSorted((a, b) => a - b);
  const servers = { cidrs: ranges.length === 0 ? undefined : ranges, ports: [...new Set(listenPorts)] };
  const service = { cidrs: serviceAddresses.map(hostRange), ports: [servicePort] };
  if (service.cidrs.length > 0) return [service, servers];
  return servers.cidrs === undefined
    ? [{ ...servers, ports: [...new Set([servicePort, ...servers.ports])] }]
    : [{ cidrs: undefined, ports: service.ports }, servers];
}

function hostRange(address: string): string {
  return `${address}/${address.includes(":") ? 128 : 32}`;
}
