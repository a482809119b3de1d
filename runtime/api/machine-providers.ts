/**
 * What can run functions on one machine, as setting `provider` names it. A replica is a process of this machine on its
 * loopback, or a container made of an image with a network of its own.
 */
export const machineProviders = {
  local: "process",
  docker: "container",
} as const satisfies Readonly<Record<string, "process" | "container">>;

export type ProviderName = keyof typeof machineProviders;

/** In the order of the table. */
export const providerNames = Object.keys(machineProviders) as readonly ProviderName[];

/** Whether replicas are containers there. */
export function runsContainers(provider: ProviderName): boolean {
  return machineProviders[provider] === "container";
}
