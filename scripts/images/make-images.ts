import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { packImages } from "./image-archive.ts";
import type { ImageContent } from "./image-content.ts";
import type { PackedImage } from "./pack-image.ts";
import { stageNats } from "./stage-nats.ts";
import { stageWeir } from "./stage-weir.ts";

const stages = { weir: stageWeir, "weir-nats": stageNats } as const;

/** Images that can be made. */
export type ImageKind = keyof typeof stages;

/** All kinds of images. */
export const imageKinds = Object.keys(stages) as readonly ImageKind[];

export interface MakeImagesOptions {
  readonly kinds?: readonly ImageKind[];
  /** Instead of the versions. */
  readonly tag?: string;
  readonly say: (line: string) => void;
}

/** Images that were made; removed at the end of an `await using` block. */
export interface MadeImages extends AsyncDisposable {
  readonly images: readonly PackedImage[];
  /** For `imageArchive` and `pushImage`. */
  readonly directory: string;
}

/**
 * Makes images from this machine's Node.js and libraries, the packages of this repository, and nats-server, without a
 * container engine or registry.
 * @throws PlatformError when nats-server is not available
 */
export async function makeImages({ kinds = imageKinds, tag, say }: MakeImagesOptions): Promise<MadeImages> {
  return await packStaged(
    kinds.map((kind) => async (root: string): Promise<ImageContent> => {
      const content = await stages[kind](root, say);
      return tag === undefined ? content : { ...content, name: `${kind}:${tag}` };
    }),
  );
}

/** Makes an image from what each of `steps` stages in the empty directory that it is given. */
export async function packStaged(steps: readonly ((root: string) => Promise<ImageContent>)[]): Promise<MadeImages> {
  const work = await mkdtemp(join(tmpdir(), "weir-images-"));
  const dispose = () => rm(work, { recursive: true, force: true });
  try {
    const contents: ImageContent[] = [];
    for (const [index, stage] of steps.entries()) {
      const root = join(work, "roots", String(index));
      await mkdir(root, { recursive: true });
      contents.push(await stage(root));
    }
    const directory = join(work, "layout");
    const images = await packImages(contents, directory);
    await rm(join(work, "roots"), { recursive: true });
    return { images, directory, [Symbol.asyncDispose]: dispose };
  } catch (err) {
    await dispose();
    throw err;
  }
}
