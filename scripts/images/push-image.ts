import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";

import { indexType, listedImages, listText, withImage } from "./manifest-list.ts";
import { blobFile, type Blob, type PackedImage } from "./pack-image.ts";
import { RegistryClient, type RegistryCredentials } from "./registry-client.ts";

export interface PushOptions {
  /** Host, with a port if it has one, and what comes before the image's name, e.g. `registry.example.com/team`. */
  readonly registry: string;
  readonly credentials?: RegistryCredentials | undefined;
  /** HTTP without TLS; always used for registries on this machine. */
  readonly plainHttp?: boolean;
  /** Directory of the blobs. */
  readonly blobs: string;
  /** Keeps the tag's images for other architectures: the tag becomes a list of all. */
  readonly join?: boolean;
}

const loopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/;

/** Whether a registry is on this machine, where it has no TLS. */
export function isLoopbackRegistry(host: string): boolean {
  return loopback.test(host);
}

/**
 * Pushes an image to a registry, without blobs that it already has; returns its name there, with its digest.
 * @throws Error with a sentence when the registry refuses
 */
export async function pushImage(image: PackedImage, options: PushOptions): Promise<string> {
  const { host, prefix } = splitRegistry(options.registry);
  const [name = "", tag = ""] = image.name.split(":");
  const repository = [...prefix, name].join("/");
  const isUnencrypted = options.plainHttp === true || isLoopbackRegistry(host);
  const client = new RegistryClient(`${isUnencrypted ? "http" : "https"}://${host}`, repository, options.credentials);
  try {
    for (const blob of [...image.layers, image.config]) await pushBlob(client, blob, options.blobs);
    const manifest = await readFile(blobFile(options.blobs, image.manifest), "utf8");
    const put = async (reference: string, mediaType: string, text: string): Promise<string> => {
      const headers = { "content-type": mediaType };
      const own = digestOf(text);
      const { digest = own } = await client.send("PUT", `manifests/${reference}`, {
        headers,
        body: textOf(text),
        expected: [201],
      });
      if (digest === own) return digest;
      throw new Error(`Cannot push "${image.name}": the registry stored ${digest}, not ${own}`);
    };
    const stored =
      options.join === true
        ? await joinList(client, image, tag, (reference, mediaType, text = manifest) => put(reference, mediaType, text))
        : await put(tag, image.manifest.mediaType, manifest);
    return `${host}/${repository}:${tag}@${stored}`;
  } finally {
    await client.close();
  }
}

/** Stores a manifest, that of the image when no text is given; returns its digest. */
type PutManifest = (reference: string, mediaType: string, text?: string) => Promise<string>;

/** A concurrent push may overwrite the list, as registries have no conditional writes: a lost image is added again. */
async function joinList(client: RegistryClient, image: PackedImage, tag: string, put: PutManifest): Promise<string> {
  const { manifest, architecture } = image;
  const listed = { ...manifest, platform: { architecture, os: "linux" } };
  await put(manifest.digest, manifest.mediaType);
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const others = (await listedImages(client, tag)) ?? [];
    const stored = await put(tag, indexType, listText(withImage(others, listed)));
    const now = (await listedImages(client, tag)) ?? [];
    if (now.some(({ digest }) => digest === manifest.digest)) return stored;
  }
  throw new Error(`Cannot push "${image.name}": others push the same tag again and again`);
}

const maxAttempts = 5;

function digestOf(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

/**
 * Host and path of a registry as typed.
 * @throws Error with a sentence
 */
export function splitRegistry(registry: string): { readonly host: string; readonly prefix: readonly string[] } {
  const [host = "", ...prefix] = registry.replace(/\/$/, "").split("/");
  const isHost = /^(?:[a-z0-9.-]+|\[[0-9a-f:]+\])(?::\d{1,5})?$/i.test(host);
  if (isHost && prefix.every((part) => /^[a-z0-9]+(?:[._-]+[a-z0-9]+)*$/.test(part))) return { host, prefix };
  throw new Error(`Cannot push to "${registry}": expected a host and perhaps a path, e.g. registry.example.com/team`);
}

async function pushBlob(client: RegistryClient, blob: Blob, blobs: string): Promise<void> {
  const existing = await client.send("HEAD", `blobs/${blob.digest}`, { expected: [200, 404] });
  if (existing.status === 200) return;
  const { location } = await client.send("POST", "blobs/uploads/", { body: textOf(""), expected: [202] });
  if (location === undefined) throw new Error("Cannot push: the registry does not say where to");
  const separator = location.includes("?") ? "&" : "?";
  await client.send("PUT", `${location}${separator}digest=${encodeURIComponent(blob.digest)}`, {
    headers: { "content-type": "application/octet-stream", "content-length": String(blob.size) },
    body: RegistryClient.file(blobFile(blobs, blob)),
    expected: [201],
  });
}

function textOf(text: string): () => string {
  return () => text;
}
