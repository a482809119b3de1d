import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { release } from "../../runtime/api/version.ts";
import { bundleSources } from "../images/bundle-sources.ts";
import { fillCompileCache } from "../images/fill-compile-cache.ts";
import { searchPath, type ImageContent } from "../images/image-content.ts";
import { programsFound, stageRoot } from "../images/stage-root.ts";
import { baseVariants, type BaseVariant } from "./base-variant.ts";
import { imagePrograms } from "./image-programs.ts";
import { machinePython } from "./machine-python.ts";
import { stagePython } from "./stage-python.ts";

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
 * Stages a base image of functions in the empty directory `directory`, with the Node.js that runs this. An image made
 * FROM it sets the function's process with `fprocess`.
 * @throws Error with a sentence when this machine lacks what the variant contains
 */
export async function stageBaseImage(directory: string, variant: BaseVariant = "node"): Promise<ImageContent> {
  const { name, title, content } = baseVariants[variant];
  const python = variant === "python" ? await machinePython() : undefined;
  await stageRoot(directory, {
    title,
    programs: [...programsFound(imagePrograms), process.execPath],
    linked: python === undefined ? [] : [python.executable, ...python.modules],
    user: { name: "app", id: user, home: "/home/app", shell: "/bin/sh" },
    // Writable for any user that the function runs as.
    writable: ["tmp", "var/tmp", "home/app"],
  });
  if (python !== undefined) await stagePython(directory, python);
  await bundleSources(repository, [entry], join(directory, home));
  const staged = join(directory, home, "start.js");
  await writeFile(staged, start);
  // Without a program the watchdog exits as soon as it is loaded.
  const environment = { fprocess: "" };
  if (!(await fillCompileCache(directory, `/${home}/start.js`, [[]], environment)))
    await run(process.execPath, [staged], { env: environment, timeout: 30_000 }).catch(() => {});
  return {
    name,
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
      title: name.replace(/:.*/, ""),
      description: `Watchdog of Weir, ${content}, for functions`,
      version: release,
      licenses: "MIT",
    },
  };
}
