import { readdirSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { installNatsServer } from "../../runtime/adapters/nats/server/install-nats-server.ts";
import { cacheDirectory, cachedBinary } from "../../runtime/adapters/nats/server/nats-server-cache.ts";
import { imageUser, natsImageName, natsVersion } from "../../runtime/api/version.ts";
import { environment } from "../../runtime/process/settings.ts";
import { searchPath, type ImageContent } from "./image-content.ts";
import { softwareList, systemPackages } from "./software-list.ts";
import { stageRoot } from "./stage-root.ts";

const list = "usr/share/sbom";

/**
 * Stages the image `weir-nats` in the empty directory `root`: the pinned nats-server, never a different one of this
 * machine.
 * @throws PlatformError when it is not available
 */
export async function stageNats(root: string, say: (line: string) => void): Promise<ImageContent> {
  const directory = cacheDirectory(environment());
  const binary =
    (await cachedBinary(directory)) ?? (await installNatsServer(directory, { environment: environment(), say }));
  const system = await stageRoot(root, {
    title: "Weir: nats-server",
    programs: [binary],
    user: { name: "nats", id: imageUser, home: "/", shell: "" },
    writable: [],
  });
  const purl = `pkg:golang/github.com/nats-io/nats-server/v2@v${natsVersion}`;
  const server = {
    type: "application",
    name: "nats-server",
    version: natsVersion,
    purl,
    license: "Apache-2.0",
  } as const;
  const parts = [server, ...(await systemPackages(system.filter((path) => path !== binary)))];
  await mkdir(join(root, list), { recursive: true });
  await writeFile(
    join(root, list, "weir-nats.cdx.json"),
    softwareList({ name: "weir-nats", version: natsVersion }, parts),
  );
  return {
    name: natsImageName,
    root,
    layers: [readdirSync(root).toSorted()],
    entrypoint: ["/usr/bin/nats-server"],
    args: [],
    user: imageUser,
    environment: { PATH: searchPath },
    about: {
      title: "weir-nats",
      description: "nats-server, the broker of Weir",
      version: natsVersion,
      licenses: "Apache-2.0",
    },
  };
}
