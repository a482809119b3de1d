import type { EngineClient } from "../../runtime/adapters/machine/docker/engine/engine-client.ts";
import type { ImageDocument } from "../../runtime/adapters/machine/docker/engine/engine-types.ts";
import { loadImages } from "../images/load-images.ts";
import { packStaged, type MadeImages } from "../images/make-images.ts";
import { stageBaseImage } from "./base-image.ts";
import { baseVariants, type BaseVariant } from "./base-variant.ts";

interface PackOptions {
  readonly variant?: BaseVariant;
  /** Compressed, it has a third of the size and takes seconds longer. */
  readonly compressed?: boolean;
}

/** Makes a base image of functions from programs and libraries of this system, without a container engine. */
export async function packBaseImage({ variant = "node", compressed = false }: PackOptions = {}): Promise<MadeImages> {
  return await packStaged([async (root) => ({ ...(await stageBaseImage(root, variant)), compressed })]);
}

/**
 * Makes a base image on `engine`; an older one of that name is removed if nothing uses it.
 * @throws Error with the engine's message
 */
export async function makeBaseImage(engine: EngineClient, variant: BaseVariant = "node"): Promise<void> {
  const { name } = baseVariants[variant];
  const before = await idOf(engine, name);
  await using made = await packBaseImage({ variant });
  await loadImages(made.directory, engine);
  if (before === undefined || before === (await idOf(engine, name))) return;
  await engine.call("DELETE", `/images/${before}`, { expected: [404, 409] });
}

async function idOf(engine: EngineClient, name: string): Promise<string | undefined> {
  const { body } = await engine.call<ImageDocument>("GET", `/images/${name}/json`, { expected: [404] });
  return body?.Id;
}
