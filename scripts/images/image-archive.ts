import { mkdir, writeFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import { join } from "node:path";

import { archive } from "./archive.ts";
import { packImage, type Blob, type PackedImage } from "./pack-image.ts";
import type { ImageContent } from "./image-content.ts";
import { fullImageName } from "./image-name.ts";

/** Directory of the blobs in the format. */
const blobs = "blobs";

/** Packs images into the empty directory `directory`, from which `imageArchive` and `pushImage` read them. */
export async function packImages(contents: readonly ImageContent[], directory: string): Promise<PackedImage[]> {
  const packed: PackedImage[] = [];
  for (const content of contents) packed.push(await packImage(content, join(directory, blobs)));
  await writeIndex(packed, directory);
  return packed;
}

/** Where `packImages` wrote the blobs. */
export function blobsBelow(directory: string): string {
  return join(directory, blobs);
}

/**
 * One archive of all images packed below `directory`, for `docker load`, `ctr images import`, `kind load image-archive`:
 * the layout of the Open Container Initiative, with the list that all versions of `docker load` read.
 */
export function imageArchive(directory: string): Readable {
  return archive(directory);
}

async function writeIndex(images: readonly PackedImage[], directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  const write = (name: string, document: unknown) => writeFile(join(directory, name), JSON.stringify(document));
  await write("oci-layout", { imageLayoutVersion: "1.0.0" });
  await write("index.json", {
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.index.v1+json",
    manifests: images.map(({ name, manifest }) => ({
      ...manifest,
      annotations: {
        "io.containerd.image.name": fullImageName(name),
        "org.opencontainers.image.ref.name": name.split(":").at(-1),
      },
    })),
  });
  const path = ({ digest }: Blob): string => `${blobs}/${digest.replace(":", "/")}`;
  await write(
    "manifest.json",
    images.map(({ name, config, layers }) => ({ Config: path(config), RepoTags: [name], Layers: layers.map(path) })),
  );
}
