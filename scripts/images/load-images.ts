import type { EngineClient } from "../../runtime/adapters/machine/docker/engine/engine-client.ts";
import { jsonLines } from "../../runtime/adapters/machine/docker/engine/json-lines.ts";
import { imageArchive } from "./image-archive.ts";

/**
 * Loads the images packed in `directory` into a container engine.
 * @throws Error with its message when it refuses
 */
export async function loadImages(directory: string, engine: EngineClient): Promise<void> {
  const responses = await engine.stream("POST", "/images/load", { body: imageArchive(directory), timeout: 0 });
  for await (const line of jsonLines(responses)) {
    const { error } = line as { error?: string };
    if (error !== undefined) throw new Error(`Cannot load images: ${error}`);
  }
}
