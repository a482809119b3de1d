import { networkInterfaces } from "node:os";

import { environment } from "./settings.ts";

/** The addresses of this machine, as they are now. */
export function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address));
}

/** Where the commands of a container engine find it, if that is said. */
export function dockerHost(): string | undefined {
  return environment()["DOCKER_HOST"];
}

/** What callbacks to this machine are judged by. */
export function machineFacts(): { readonly engine: string | undefined; readonly ownAddresses: readonly string[] } {
  return { engine: dockerHost(), ownAddresses: ownAddresses() };
}
