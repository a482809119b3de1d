import type { EngineClient } from "../../runtime/adapters/machine/docker/engine/engine-client.ts";
import type { ImageDocument } from "../../runtime/adapters/machine/docker/engine/engine-types.ts";
import { baseImageName } from "../../runtime/api/version.ts";
import { loadImages } from "../images/load-images.ts";
import { packStaged, type MadeImages } from "../images/make-images.ts";
import { stageBaseImage } from "./base-image.ts";

/**
 * Makes the functions' base image from this system's Node.js and libraries, without a container engine. Compressed, it
 * has a third of the size and takes seconds longer.
 */
export async function packBaseImage({ compressed = false } = {}): Promise<MadeImages> {
  return await packStaged([async (root) => ({ ...(await stageBaseImage(root)), compressed })]);
}

/**
 * Makes the base image on `engine`; an older one of that name is removed if nothing uses it.
 * @throws Error with the engine's message
 */
export async function makeBaseImage(engine: EngineClient): Promise<void> {
  const before = await idOf(engine);
  await using made = await packBaseImage();
  await loadImages(made.directory, engine);
  if (before === undefined || before === (await idOf(engine))) return;
  await engine.call("DELETE", `/images/${before}`, { expected: [404, 409] });
}

async function idOf(engine: EngineClient): Promise<string | undefined> {
  const { body } = await engine.call<ImageDocument>("GET", `/images/${baseImageName}/json`, { expected: [404] });
  return body?.Id;
}
