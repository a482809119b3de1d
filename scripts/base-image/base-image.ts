import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { baseImageName, release } from "../../runtime/api/version.ts";
import { bundleSources } from "../images/bundle-sources.ts";
import { fillCompileCache } from "../images/fill-compile-cache.ts";
import { searchPath, type ImageContent } from "../images/image-content.ts";
import { programsFound, stageRoot } from "../images/stage-root.ts";
import { imagePrograms } from "./image-programs.ts";

const run = promisify(execFile);
const repository = fileURLToPath(new URL("../..", import.meta.url));
const home = "opt/weir";
const user = 12_000;
/** Directories that everybody may write to stay so. */
const readable = "a+rX";
const entry = "runtime/watchdog/main.ts";

/**
 * The first program that runs: it makes Node.js store and reuse compiled modules, as compilation takes most of a start.
 * This applies to the watchdog only, since functions do not inherit it by their environment. The engine determines how
 * long calls in flight may take during a stop, and ends those that take longer.
 */
const start = `import module from "node:module";
process.env.write_timeout ??= "1h";
module.enableCompileCache({ directory: import.meta.dirname + "/cache", portable: true });
await import("./${entry.replace(/ts$/, "js")}");
`;

/**
 * Stages the functions' base image in the empty directory `directory`, with the Node.js that runs this. An image made
 * FROM it sets the function's process with `fprocess`.
 */
export async function stageBaseImage(directory: string): Promise<ImageContent> {
  await stageRoot(directory, {
    title: "Weir base image",
    programs: [...programsFound(imagePrograms), process.execPath],
    user: { name: "app", id: user, home: "/home/app", shell: "/bin/sh" },
    // Writable for any user that the function runs as.
    writable: ["tmp", "var/tmp", "home/app"],
  });
  await bundleSources(repository, [entry], join(directory, home));
  const staged = join(directory, home, "start.js");
  await writeFile(staged, start);
  // Without a program the watchdog exits as soon as it is loaded.
  const environment = { fprocess: "" };
  if (!(await fillCompileCache(directory, `/${home}/start.js`, [[]], environment)))
    await run(process.execPath, [staged], { env: environment, timeout: 30_000 }).catch(() => {});
  return {
    name: baseImageName,
    root: directory,
    layers: [["."]],
    mode: readable,
    entrypoint: [],
    args: ["node", `/${home}/start.js`],
    user,
    environment: { PATH: searchPath },
    directory: "/home/app",
    ports: [8080],
    about: {
      title: "weir-base",
      description: "Watchdog of Weir, Node.js and a few programs, for functions",
      version: release,
      licenses: "MIT",
    },
  };
}
