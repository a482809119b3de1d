import { Command } from "commander";

import { engineAddress } from "../../runtime/adapters/docker/docker-socket.ts";
import { EngineClient } from "../../runtime/adapters/docker/engine-client.ts";
import { baseImageName } from "../../runtime/api/version.ts";
import { environment } from "../../runtime/process/settings.ts";
import { makeBaseImage } from "./make-base-image.ts";

const say = (line: string): void => void process.stderr.write(`${line}\n`);

const command = new Command("npm run base-image --")
  .description(
    `Makes the image "${baseImageName}" of Weir's watchdog, Node.js and a few programs of this machine: functions can be made FROM it.`,
  )
  .option("--docker-socket <address>", "the container engine that gets it", environment()["docker_socket"])
  .helpOption("--help", "show this")
  .action(async (options: { dockerSocket?: string }) => {
    const engine = new EngineClient(engineAddress(options.dockerSocket, environment()["DOCKER_HOST"]));
    try {
      await engine.ping();
      say(`Making image "${baseImageName}" of this system's Node.js and libraries`);
      await makeBaseImage(engine);
      say(`Image "${baseImageName}" is there; make others FROM it`);
    } finally {
      await engine.close();
    }
  });

try {
  await command.parseAsync();
} catch (err) {
  say(err instanceof Error ? err.message : String(err));
  process.exitCode = 1;
}
