import type { Engine } from "../../../core/ports/engine.ts";
import { engineAddress, engineNamedBy, engineTrouble } from "./engine/docker-socket.ts";
import { openDockerProvider } from "./open-docker-provider.ts";

/** Replicas are containers of the engine at `named`, setting `docker_socket`, or else where `dockerHost`, variable `DOCKER_HOST`, says. */
export function dockerEngine(named: string | undefined, dockerHost: string | undefined): Engine {
  return {
    look: async () => ({
      trouble: await engineTrouble(engineAddress(named, dockerHost)),
      namedBy: engineNamedBy(named, dockerHost),
    }),
    open: async (place) => openDockerProvider({ ...place, socket: engineAddress(named, dockerHost) }),
  };
}
