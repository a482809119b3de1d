/**
 * The providers for a single machine, as setting `provider` names them. A replica is a process on this machine's
 * loopback, or a container with a network of its own.
 */
export const machineProviders = {
  local: "process",
  docker: "container",
} as const satisfies Readonly<Record<string, "process" | "container">>;

export type ProviderName = keyof typeof machineProviders;

/** In the order of the table. */
export const providerNames = Object.keys(machineProviders) as readonly ProviderName[];

/** Whether the replicas of this provider are containers. */
export function runsContainers(provider: ProviderName): boolean {
  return machineProviders[provider] === "container";
}
