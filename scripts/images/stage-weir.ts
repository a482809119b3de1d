import { existsSync, readdirSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { imageUser, release, weirImageName } from "../../runtime/api/version.ts";
import { makeConsoleFiles } from "../console/make-console-files.ts";
import { writeConsole } from "../console/write-console.ts";
import { bundleSources, copyDescriptions } from "./bundle-sources.ts";
import { fillCompileCache } from "./fill-compile-cache.ts";
import { searchPath, type ImageContent } from "./image-content.ts";
import { packagesBelow, softwareList, systemPackages } from "./software-list.ts";
import { stageRoot } from "./stage-root.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));
const home = "opt/weir";
/** Folders with a main.ts that are not in this image: for a single machine, for functions, for people. */
const elsewhere = ["host", "watchdog", "cli"];
/** Programs that a process starts as its children. */
const children: Readonly<Record<string, readonly string[]>> = {
  history: ["runtime/adapters/sqlite/calls/reader.ts", "runtime/adapters/sqlite/logs/log-reader.ts"],
};

/** The process that serves the pages of the console. */
const pageServer = "gateway";

/**
 * The first program that runs. The image contains compiled modules, as compilation takes half of a start. Process 1
 * ignores signals without a listener, so a signal that arrives before the process listens ends it here.
 */
const start = `import { existsSync, readdirSync } from "node:fs";
import module from "node:module";

const runtime = import.meta.dirname + "/runtime";
const names = readdirSync(runtime).filter((name) => existsSync(runtime + "/" + name + "/main.js"));
const name = process.argv[2] ?? "";
if (names.includes(name)) {
  const leave = () => process.exit(0);
  process.on("SIGTERM", leave);
  // Not before the other one is there: Node.js stops listening to a signal when the last listener goes.
  process.on("newListener", (event) => event === "SIGTERM" && process.nextTick(() => process.off("SIGTERM", leave)));
  process.argv.splice(1, 2, runtime + "/" + name + "/main.js");
  module.enableCompileCache({ directory: import.meta.dirname + "/cache", portable: true });
  await import("./runtime/" + name + "/main.js");
} else {
  console.error('Cannot start "' + name + '": expected one of ' + names.join(", ") + ", then its flags, e.g. --help");
  process.exitCode = 2;
}
`;

/** The processes of the platform that the image contains. */
export function imageProcesses(): string[] {
  const runtime = join(repository, "runtime");
  return readdirSync(runtime)
    .filter((name) => !elsewhere.includes(name) && existsSync(join(runtime, name, "main.ts")))
    .toSorted();
}

/**
 * Writes the bundle of the processes, the pages of the console if one of them serves them, and the program that starts
 * a process, `start.js`, below `target`.
 */
export async function writeProgram(target: string, names: readonly string[] = imageProcesses()): Promise<void> {
  await mkdir(target, { recursive: true });
  const entries = names.flatMap((name) => [`runtime/${name}/main.ts`, ...(children[name] ?? [])]);
  await bundleSources(repository, entries, target);
  if (names.includes(pageServer)) await writePages(target);
  await writeFile(join(target, "start.js"), start);
}

/** The pages, where the gateway reads them, and the licences of the packages in them, where those of all others are. */
async function writePages(target: string): Promise<void> {
  const made = await makeConsoleFiles(repository);
  await writeConsole(made, join(target, "runtime/console/dist"));
  await copyDescriptions(repository, made.packages, target);
}

/**
 * Stages only the program in `root`: a bundle of sources and packages, the pages of the console, the start program
 * and the list of its components; with compiled modules if Node.js may run in `root`, which is reported otherwise.
 */
export async function stageProgram(
  root: string,
  say: (line: string) => void,
  system: readonly string[] = [],
  names: readonly string[] = imageProcesses(),
): Promise<void> {
  const target = join(root, home);
  await writeProgram(target, names);
  const parts = [
    {
      type: "application",
      name: "node",
      version: process.versions.node,
      purl: `pkg:generic/node@${process.versions.node}`,
    },
    ...(await packagesBelow(join(target, "node_modules"))),
    ...(await systemPackages(system)),
  ] as const;
  await writeFile(join(target, "sbom.cdx.json"), softwareList({ name: "weir", version: release }, parts));
  const filled = await fillCompileCache(
    root,
    `/${home}/start.js`,
    names.map((name) => [name, "--help"]),
  );
  if (!filled) say("This machine does not let Node.js run in the image's files: processes will start more slowly");
}

/** Stages the image `weir` in the empty directory `root`: this system's Node.js and libraries, and the program. */
export async function stageWeir(root: string, say: (line: string) => void): Promise<ImageContent> {
  const system = await stageRoot(root, {
    title: "Weir",
    programs: [process.execPath],
    user: { name: "weir", id: imageUser, home: `/${home}`, shell: "" },
    writable: [],
  });
  await stageProgram(root, say, system);
  const all = readdirSync(root).toSorted();
  return {
    name: weirImageName,
    root,
    layers: [all.filter((name) => name !== "opt"), ["opt"]],
    entrypoint: ["/usr/bin/node", `/${home}/start.js`],
    args: [],
    user: imageUser,
    environment: { PATH: searchPath },
    about: {
      title: "weir",
      description: `The processes of Weir, a function platform: ${imageProcesses().join(", ")}`,
      version: release,
      licenses: "MIT",
    },
  };
}
