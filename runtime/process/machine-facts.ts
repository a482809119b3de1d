import { networkInterfaces } from "node:os";

import { environment } from "./settings.ts";

/** The addresses of this machine, as they are now. */
export function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address));
}

/** The container engine's address in `DOCKER_HOST`, if set. */
export function dockerHost(): string | undefined {
  return environment()["DOCKER_HOST"];
}

/** Facts by which callbacks to this machine are judged. */
export function machineFacts() {
  return { engine: dockerHost(), ownAddresses } as const;
}

const toolVariables = ["PATH", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"];

/** What tools that this process starts need of its environment to be found, and to reach the network. */
export function toolEnvironment(): Readonly<Record<string, string>> {
  const own = environment();
  return Object.fromEntries(
    toolVariables.flatMap((name) => {
      const value = own[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
