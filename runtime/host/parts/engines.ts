import { dockerEngine } from "../../adapters/machine/docker/docker-engine.ts";
import { localEngine } from "../../adapters/machine/local/local-engine.ts";
import type { ProviderName } from "../../api/machine-providers.ts";
import type { Engine } from "../../core/ports/engine.ts";
import { holdLock } from "../../process/hold-lock.ts";
import { dockerHost, toolEnvironment } from "../../process/machine-facts.ts";
import type { HostSettings } from "../settings.ts";

/** What can run replicas, by its name in setting `provider`. */
export function enginesFor({ dockerSocket }: HostSettings): Readonly<Record<ProviderName, Engine>> {
  return {
    local: localEngine(holdLock, toolEnvironment()),
    docker: dockerEngine(dockerSocket, dockerHost()),
  };
}
