import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { dockerSocket } from "../../runtime/adapters/docker/docker-socket.ts";
import { EngineClient } from "../../runtime/adapters/docker/engine-client.ts";
import { environment } from "../../runtime/process/settings.ts";
import { baseImageName, importImage, stageBaseImage } from "./base-image.ts";

const say = (line: string): void => void process.stderr.write(`${line}\n`);
const engine = new EngineClient(dockerSocket(process.argv[2] ?? environment()["DOCKER_HOST"]));
const directory = await mkdtemp(join(tmpdir(), "weir-base-image-"));
try {
  await engine.ping();
  say(`Making image "${baseImageName}" of this system's Node.js and libraries`);
  await stageBaseImage(directory);
  await importImage(engine, directory);
  say(`Image "${baseImageName}" is there; make others FROM it`);
} catch (err) {
  say(err instanceof Error ? err.message : String(err));
  process.exitCode = 1;
} finally {
  await engine.close();
  await rm(directory, { recursive: true, force: true });
}
