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
export function machineFacts(): { readonly engine: string | undefined; readonly ownAddresses: readonly string[] } {
  return { engine: dockerHost(), ownAddresses: ownAddresses() };
}
