import { createHash } from "node:crypto";

import type { RegistryClient } from "./registry-client.ts";

/** An image as an entry of a list for different platforms (OCI image index, Docker manifest list). */
export interface ListedImage {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly platform: { readonly architecture: string; readonly os: string };
}

/** Media type of a list. */
export const indexType = "application/vnd.oci.image.index.v1+json";

const manifestTypes = [
  indexType,
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "application/vnd.docker.distribution.manifest.v2+json",
];

interface Manifest {
  readonly mediaType?: string;
  readonly config?: { readonly digest: string };
  readonly manifests?: readonly (Omit<ListedImage, "platform"> & { readonly platform?: ListedImage["platform"] })[];
}

/** The images that a registry has under a tag or digest: several, or one; undefined when there is none. */
export async function listedImages(client: RegistryClient, reference: string): Promise<ListedImage[] | undefined> {
  const options = { headers: { accept: manifestTypes.join(", ") }, expected: [200, 404] };
  const { status, text, digest } = await client.send("GET", `manifests/${reference}`, options);
  if (status === 404) return undefined;
  const { mediaType = manifestTypes[1] ?? "", config, manifests } = JSON.parse(text) as Manifest;
  // Attestations of an image are entries, too, with the system "unknown".
  if (manifests !== undefined)
    return manifests.flatMap(({ platform, ...image }) =>
      platform === undefined || platform.os === "unknown" ? [] : [{ ...image, platform }],
    );
  const platform = await platformOf(client, config?.digest ?? "");
  const own = digest ?? `sha256:${createHash("sha256").update(text).digest("hex")}`;
  return [{ mediaType, digest: own, size: Buffer.byteLength(text), platform }];
}

const moved = [301, 302, 303, 307, 308];

/** The platform, from the configuration of an image. */
async function platformOf(client: RegistryClient, digest: string): Promise<ListedImage["platform"]> {
  const path = `blobs/${digest}`;
  const response = await client.send("GET", path, { expected: [200, ...moved] });
  // Cloud registries redirect to the storage of their blobs.
  const { text } = moved.includes(response.status)
    ? await client.send("GET", response.location ?? path, { expected: [200] })
    : response;
  const { architecture = "unknown", os = "linux" } = JSON.parse(text) as Partial<ListedImage["platform"]>;
  return { architecture, os };
}

/** The list in which `image` replaces the one of `others` for the same platform. */
export function withImage(others: readonly ListedImage[], image: ListedImage): ListedImage[] {
  const { architecture, os } = image.platform;
  const kept = others.filter(({ platform }) => platform.architecture !== architecture || platform.os !== os);
  return [...kept, image].toSorted((a, b) => a.platform.architecture.localeCompare(b.platform.architecture, "en"));
}

/** The list in the form of a registry. */
export function listText(images: readonly ListedImage[]): string {
  return JSON.stringify({ schemaVersion: 2, mediaType: indexType, manifests: images });
}
