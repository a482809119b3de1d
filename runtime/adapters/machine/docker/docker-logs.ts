import { join } from "node:path";

import { EndedLogs } from "../../replica-logs/ended-logs.ts";
import { DockerLogSource } from "./docker-log-source.ts";
import { EngineClient } from "./engine/engine-client.ts";
import { instanceName } from "./instance-name.ts";
import { ListedContainers } from "./listed-containers.ts";

/** Opens the logs of the functions of provider `docker`; `engine` is the address of the container engine. */
export async function openDockerLogs(data: string, engine: string) {
  const directory = join(data, "docker");
  const client = new EngineClient(engine);
  const containers = new ListedContainers(client, await instanceName(join(directory, "instance")));
  return {
    source: new DockerLogSource(client, containers, new EndedLogs(join(directory, "logs"))),
    functions: containers,
    close: () => client.close(),
  };
}
