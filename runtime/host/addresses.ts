import { isLoopbackHost } from "../api/host-grammar.ts";
import { runsContainers, type ProviderName } from "../api/machine-providers.ts";
import type { CallbackRules } from "../core/callbacks/callback-policy.ts";
import { replicasAt } from "../core/callbacks/replica-places.ts";
import { platformCallbackRules } from "../core/callbacks/platform-callback-rules.ts";
import { dockerHost, ownAddresses } from "../process/machine-facts.ts";
import { clusterGatewayUrl } from "../settings/platform-settings.ts";
import type { HostSettings } from "./settings.ts";

/** The gateway's URL on this machine: for functions, callbacks and the person at the terminal. */
export function ownUrl(settings: Pick<HostSettings, "host" | "tlsCert">, port: number): string {
  const scheme = settings.tlsCert === undefined ? "http" : "https";
  const everywhere = settings.host === "0.0.0.0" || settings.host === "::";
  const host = everywhere || (isLoopbackHost(settings.host) && settings.host !== "::1") ? "127.0.0.1" : settings.host;
  return `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** The gateway's port for containers, which get it from `{cluster_gateway_url}` (contract §1.1). */
export const bridgePort = 8080;

/** The gateway's URL for functions. In the network of a container, loopback is the container, not this machine. */
export function functionGatewayUrl(settings: HostSettings, provider: ProviderName, own: string): string {
  return runsContainers(provider) ? clusterGatewayUrl(settings) : own;
}

/** Where the gateway also listens, on bridges with these addresses; nowhere if it already listens there. */
export function besideGateway(
  { host }: Pick<HostSettings, "host">,
  port: number,
  bridges: readonly string[],
): { readonly host: string; readonly port: number }[] {
  const everywhere = (host === "0.0.0.0" || host === "::") && port === bridgePort;
  return everywhere ? [] : bridges.map((address) => ({ host: address, port: bridgePort }));
}

/** What the callback rules of one machine are made from, besides settings. */
export interface HostEndpoints {
  /** The gateway's URL on this machine. */
  readonly own: string;
  readonly provider: ProviderName;
  /** Those of the broker, its monitoring and the admin server. */
  readonly closedUrls: readonly string[];
  /** `host:port` of everything that replicas listen on, as of now. */
  readonly replicaAddresses: () => readonly string[];
}

/** Where callbacks may go on one machine. */
export function hostCallbackRules(settings: HostSettings, endpoints: HostEndpoints): CallbackRules {
  const { own, provider, closedUrls, replicaAddresses } = endpoints;
  const portOf = (url: string): number => Number(new URL(url).port);
  return platformCallbackRules({
    ...settings,
    clusterGatewayUrl: clusterGatewayUrl(settings),
    publicUrls: [settings.publicUrl, own, own.replace("127.0.0.1", "localhost")],
    platformPorts: [settings.consolePort, ...closedUrls.map(portOf)],
    gatewayPorts: [portOf(own), ...(runsContainers(provider) ? [bridgePort] : [])],
    engine: settings.dockerSocket ?? dockerHost(),
    ownAddresses,
    isReplica: replicasAt(replicaAddresses),
  });
}
