import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

import { baseImageName } from "../../runtime/api/version.ts";
import { packBaseImage } from "../../scripts/base-image/make-base-image.ts";
import { runClusterScript } from "../../scripts/cluster/run-script.ts";
import { imageArchive } from "../../scripts/images/image-archive.ts";
import type { MadeImages } from "../../scripts/images/make-images.ts";
import { tempDirectory } from "./temp-directory.ts";
import type { TestCluster } from "./test-cluster.ts";

/**
 * Loads an image, a tar as `docker save` writes it, into the cluster.
 * @throws Error if the cluster is not one of `scripts/cluster`: how to load images into another one is unknown
 */
export async function loadImage(cluster: TestCluster, file: string): Promise<void> {
  if (cluster.directory === undefined)
    throw new Error("Cannot load an image: the cluster is not one of scripts/cluster");
  const code = await runClusterScript("load", ["--dir", cluster.directory, file]);
  if (code !== 0) throw new Error(`Cannot load an image into the cluster: load ended with ${code}, see above`);
}

/**
 * Builds the base image from this system's Node.js and programs, and loads it into the cluster. It runs the watchdog,
 * which runs `fprocess`. Pods must set `imagePullPolicy: Never`.
 */
export async function loadBaseImage(cluster: TestCluster): Promise<string> {
  await using made = await packBaseImage();
  await loadMadeImages(cluster, made);
  return baseImageName;
}

/** Loads built images into the cluster. */
export async function loadMadeImages(
  cluster: TestCluster,
  { directory }: Pick<MadeImages, "directory">,
): Promise<void> {
  await using place = await tempDirectory("images");
  const file = join(place.path, "images.tar");
  await pipeline(imageArchive(directory), createWriteStream(file));
  await loadImage(cluster, file);
}
