import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";

import type { Command } from "commander";

import { engineAddress } from "../../runtime/adapters/machine/docker/engine/docker-socket.ts";
import { EngineClient } from "../../runtime/adapters/machine/docker/engine/engine-client.ts";
import { environment } from "../../runtime/process/settings.ts";
import { blobsBelow, imageArchive } from "./image-archive.ts";
import type { MadeImages } from "./make-images.ts";
import { pushImage, splitRegistry } from "./push-image.ts";
import type { RegistryCredentials } from "./registry-client.ts";
import { registryCredentials, type TypedCredentials } from "./registry-credentials.ts";

/** Where images go, as typed; to the container engine without `push` and `tar`. */
export interface TypedDelivery extends TypedCredentials {
  readonly push?: string;
  readonly tar?: string;
  readonly plainHttp?: boolean;
  readonly join?: boolean;
  readonly dockerSocket?: string;
}

/** The flags of a `TypedDelivery`. */
export function deliveryOptions(command: Command): Command {
  return command
    .option("--push <registry>", "pushes them there, e.g. registry.example.com/team")
    .option("--join", "keeps existing images for other architectures: one name for all")
    .option("--tar <file>", "saves them, for docker load, ctr images import, kind load image-archive")
    .option("--user <name>", "user that pushes; when absent, the credentials of docker login")
    .option("--password-file <file>", "with the password of --user")
    .option("--plain-http", "the registry has no TLS; assumed on this machine")
    .option("--docker-socket <address>", "the container engine that gets them", environment()["docker_socket"]);
}

/** Whether the images leave this machine, or may. */
export function leavesMachine({ push, tar }: TypedDelivery): boolean {
  return push !== undefined || tar !== undefined;
}

/**
 * Credentials for pushing, read before the images are made, which takes a while; undefined when none are needed.
 * @throws Error with a sentence
 */
export async function deliveryCredentials(typed: TypedDelivery): Promise<RegistryCredentials | undefined> {
  return typed.push === undefined ? undefined : registryCredentials(splitRegistry(typed.push).host, typed);
}

/** Saves and pushes images as typed. */
export async function sendImages(
  made: MadeImages,
  typed: TypedDelivery,
  credentials: RegistryCredentials | undefined,
  say: (line: string) => void,
): Promise<void> {
  const { push, tar, plainHttp = false, join = false } = typed;
  for (const { name, manifest, layers } of made.images) {
    const size = layers.reduce((sum, layer) => sum + layer.size, 0);
    say(`Made "${name}": ${(size / 1_000_000).toFixed(1)} MB, ${manifest.digest}`);
  }
  if (tar !== undefined) {
    await pipeline(imageArchive(made.directory), createWriteStream(tar));
    say(`Saved in "${tar}"`);
  }
  if (push === undefined) return;
  const options = { registry: push, credentials, plainHttp, join, blobs: blobsBelow(made.directory) };
  for (const image of made.images) say(`Pushed ${await pushImage(image, options)}`);
}

/**
 * Does `work` with the container engine that was typed, or the default one.
 * @throws Error when it does not respond
 */
export async function withEngine(
  typed: TypedDelivery,
  work: (engine: EngineClient) => Promise<unknown>,
): Promise<void> {
  const engine = new EngineClient(engineAddress(typed.dockerSocket, environment()["DOCKER_HOST"]));
  try {
    await engine.ping();
    await work(engine);
  } finally {
    await engine.close();
  }
}
