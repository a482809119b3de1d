import { engineAddress } from "../../runtime/adapters/machine/docker/engine/docker-socket.ts";
import { EngineClient } from "../../runtime/adapters/machine/docker/engine/engine-client.ts";
import { baseImageName } from "../../runtime/api/version.ts";
import { environment } from "../../runtime/process/settings.ts";
import { noDockerEngine, startDockerEngine } from "../../test/support/docker-engine.ts";
import type { TestDockerEngine } from "../../test/support/shared-docker-engine.ts";
import { makeBaseImage } from "../../scripts/base-image/make-base-image.ts";
import { BenchSkipped } from "../bench-row.ts";

/** An engine with the base image. */
export type BenchEngine = Pick<TestDockerEngine, "socket" | "image" | "client" | "close">;

/**
 * The engine that `DOCKER_HOST` names, in which the image stays, or else a new one with separate data.
 * @throws BenchSkipped when no engine can be started
 */
export async function openBenchEngine(): Promise<BenchEngine> {
  const given = environment()["DOCKER_HOST"];
  if (given !== undefined) return await useEngine(engineAddress(undefined, given));
  const reason = noDockerEngine();
  if (reason !== undefined) throw new BenchSkipped(`no container engine can be started here: ${reason}`);
  const own = await startDockerEngine();
  const client = new EngineClient(own.socket);
  const close = async (): Promise<void> => {
    await client.close();
    await own.close();
  };
  return { socket: own.socket, image: baseImageName, client, close };
}

async function useEngine(socket: string): Promise<BenchEngine> {
  const client = new EngineClient(socket);
  try {
    await client.ping();
    await makeBaseImage(client);
  } catch (err) {
    await client.close();
    throw err;
  }
  return { socket, image: baseImageName, client, close: () => client.close() };
}
