import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";

import { Command, Option } from "commander";

import { engineAddress } from "../../runtime/adapters/docker/docker-socket.ts";
import { EngineClient } from "../../runtime/adapters/docker/engine-client.ts";
import { natsImageName, weirImageName } from "../../runtime/api/version.ts";
import { environment } from "../../runtime/process/settings.ts";
import { blobsBelow, imageArchive } from "./image-archive.ts";
import { loadImages } from "./load-images.ts";
import { imageKinds, makeImages, type ImageKind } from "./make-images.ts";
import { pushImage, splitRegistry } from "./push-image.ts";
import { registryCredentials } from "./registry-credentials.ts";

interface Typed {
  readonly push?: string;
  readonly tar?: string;
  readonly tag?: string;
  readonly only?: ImageKind;
  readonly user?: string;
  readonly passwordFile?: string;
  readonly plainHttp?: boolean;
  readonly dockerSocket?: string;
}

const say = (line: string): void => void process.stderr.write(`${line}\n`);

const command = new Command("npm run images --")
  .description(
    `Makes the images "${weirImageName}" and "${natsImageName}" of this machine's Node.js, its libraries and nats-server. Without --push and --tar the container engine gets them.`,
  )
  .option("--push <registry>", "puts them there, e.g. registry.example.com/team")
  .option("--tar <file>", "saves them, for docker load, ctr images import, kind load image-archive")
  .option("--tag <version>", "instead of the versions")
  .addOption(new Option("--only <image>", "one of them").choices([...imageKinds]))
  .option("--user <name>", "who pushes; without, what docker login keeps in its file")
  .option("--password-file <file>", "with the password of --user")
  .option("--plain-http", "the registry has no TLS; taken for granted on this machine")
  .option("--docker-socket <address>", "the container engine that gets them", environment()["docker_socket"])
  .helpOption("--help", "show this")
  .action(async (typed: Typed) => {
    checkTag(typed.tag);
    const { push, tar, tag, only } = typed;
    const host = push === undefined ? undefined : splitRegistry(push).host;
    const credentials = host === undefined ? undefined : await registryCredentials(host, typed);
    await using made = await makeImages({
      say,
      ...(only === undefined ? {} : { kinds: [only] }),
      ...(tag === undefined ? {} : { tag }),
    });
    for (const { name, manifest, layers } of made.images) {
      const size = layers.reduce((sum, layer) => sum + layer.size, 0);
      say(`Made "${name}": ${(size / 1_000_000).toFixed(1)} MB, ${manifest.digest}`);
    }
    if (tar !== undefined) {
      await pipeline(imageArchive(made.directory), createWriteStream(tar));
      say(`Saved in "${tar}"`);
    }
    if (push !== undefined) {
      const options = {
        registry: push,
        credentials,
        plainHttp: typed.plainHttp === true,
        blobs: blobsBelow(made.directory),
      };
      for (const image of made.images) say(`Pushed ${await pushImage(image, options)}`);
    }
    if (tar === undefined && push === undefined) {
      const engine = new EngineClient(engineAddress(typed.dockerSocket, environment()["DOCKER_HOST"]));
      try {
        await engine.ping();
        await loadImages(made.directory, engine);
      } finally {
        await engine.close();
      }
      say("The container engine has them");
    }
  });

try {
  await command.parseAsync();
} catch (err) {
  say(err instanceof Error ? err.message : String(err));
  process.exitCode = 1;
}

function checkTag(tag: string | undefined): void {
  if (tag !== undefined && !/^\w[\w.-]{0,127}$/.test(tag))
    throw new Error(`Cannot use tag "${tag}": expected letters, digits, ".", "_" and "-", at most 128`);
}
