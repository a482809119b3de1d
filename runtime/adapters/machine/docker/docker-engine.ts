import type { Engine } from "../../../core/ports/engine.ts";
import { engineAddress, engineNamedBy, engineTrouble } from "./engine/docker-socket.ts";
import { openDockerProvider } from "./open-docker-provider.ts";

/**
 * Runs replicas as containers of the engine at `named` (setting `docker_socket`), else at `dockerHost` (`DOCKER_HOST`).
 */
export function dockerEngine(named: string | undefined, dockerHost: string | undefined): Engine {
  return {
    look: async () => ({
      unavailable: await engineTrouble(engineAddress(named, dockerHost)),
      namedBy: engineNamedBy(named, dockerHost),
    }),
    open: async (place) => openDockerProvider({ ...place, socket: engineAddress(named, dockerHost) }),
  };
}
