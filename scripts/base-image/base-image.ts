import { execFile, spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import type { EngineClient } from "../../runtime/adapters/docker/engine-client.ts";
import type { ImageDocument } from "../../runtime/adapters/docker/engine-types.ts";
import { jsonLines } from "../../runtime/adapters/docker/json-lines.ts";
import { PlatformError } from "../../runtime/api/platform-error.ts";
import { release } from "../../runtime/api/version.ts";
import { imagePrograms } from "./image-programs.ts";
import { programsFound, stageRoot } from "./stage-root.ts";
import { stageSources } from "./stage-sources.ts";

/** Name of the image that functions are made from where no registry can be reached. */
export const baseImageName = `weir-base:${release}`;

const run = promisify(execFile);
const repository = fileURLToPath(new URL("../..", import.meta.url));
const home = "opt/weir";
const entry = "runtime/watchdog/main.ts";

/** What the image runs with; an image made FROM it says with `fprocess` what the function is. */
const changes = [
  "ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  // How long calls in flight may take at a stop is the engine's to say, which ends what takes longer.
  "ENV write_timeout=1h",
  "WORKDIR /home/app",
  "USER 12000:12000",
  "EXPOSE 8080",
  `CMD ["node", "/${home}/start.js"]`,
];

/**
 * The first thing that runs: it lets Node.js keep and find compiled modules, which take most of the time of a start.
 * Only the watchdog's: the functions' own environment says nothing of it.
 */
const start = `import module from "node:module";
module.enableCompileCache({ directory: import.meta.dirname + "/cache", portable: true });
await import("./${entry}");
`;

/** Lays out the image's whole content below `directory`; Node.js is the one that runs this. */
export async function stageBaseImage(directory: string): Promise<void> {
  await stageRoot(directory, [...programsFound(imagePrograms), process.execPath]);
  await stageSources(repository, entry, join(directory, home));
  await writeFile(join(directory, home, "start.js"), start);
  await fillCompileCache(directory);
}

/**
 * Makes the image `name` of what lies below `directory`, as root's files; an older image of that name is removed if
 * nothing uses it.
 * @throws PlatformError with the engine's words
 */
export async function importImage(
  engine: EngineClient,
  directory: string,
  name: string = baseImageName,
): Promise<void> {
  const [repo = "", tag = ""] = name.split(":");
  const before = (await engine.call<ImageDocument>("GET", `/images/${name}/json`, { expected: [404] })).body;
  // What Node.js keeps compiled is for its maker alone, unless told otherwise.
  const owner = ["--mode=a+rX", "--numeric-owner", "--owner=0", "--group=0"];
  const tar = spawn("tar", ["--create", "--file=-", `--directory=${directory}`, ...owner, "."], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const query = { fromSrc: "-", repo, tag, changes };
  const answer = await engine.stream("POST", "/images/create", { query, body: tar.stdout, timeout: 0 });
  for await (const line of jsonLines(answer)) {
    const { error } = line as { error?: string };
    if (error !== undefined) throw new PlatformError("internal_error", `Cannot make image "${name}": ${error}`);
  }
  if (before !== undefined) await engine.call("DELETE", `/images/${before.Id}`, { expected: [404, 409] });
}

/** Lets the staged watchdog start once, which keeps its modules compiled; where that fails it starts a little slower. */
async function fillCompileCache(directory: string): Promise<void> {
  const staged = join(directory, home, "start.js");
  await run(process.execPath, [staged], { env: { fprocess: "" }, timeout: 30_000 }).catch(() => {});
}
