import { execFile } from "node:child_process";
import { copyFile, cp, glob, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { makeConsoleFiles } from "../console/make-console-files.ts";
import { writeConsole } from "../console/write-console.ts";
import { licenceTexts, thirdPartyFile } from "./licence-texts.ts";
import { packDirectory, type PackedDirectory } from "./pack-directory.ts";

interface ProjectManifest {
  readonly version: string;
  readonly license: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

/** What starts as a process where Weir is on one machine: the platform, and what runs inside each function. */
export const platformEntries = [
  "runtime/host/main.ts",
  "runtime/history/main.ts",
  "runtime/adapters/sqlite/calls/reader.ts",
  "runtime/adapters/sqlite/logs/log-reader.ts",
  "runtime/watchdog/main.ts",
  "runtime/watchdog/prepare/main.ts",
];
/** Files beside the sources that are read when they run. */
const assets = "runtime/{adapters,host}/**/*.{sh,txt}";
/** Packages that only the command line needs, or the build of the console, whose pages are in the package. */
const leftOut: ReadonlySet<string> = new Set(
  "@clack/prompts fast-string-width @preact/signals @tanstack/virtual-core preact rolldown uplot".split(" "),
);
const launcher = "weir-platform.js";

/**
 * Makes the package `weir-platform` in `directory`: Weir on one machine, without Pulumi, as JavaScript, with the built
 * console.
 */
export async function makePlatformPackage(root: string, directory: string): Promise<PackedDirectory> {
  const place = await mkdtemp(join(tmpdir(), "weir-platform-package-"));
  try {
    await compile(root, place);
    await copyAssets(root, place);
    const made = await makeConsoleFiles(root);
    await writeConsole(made, join(place, "runtime/console/dist"));
    await writeFile(join(place, thirdPartyFile), await licenceTexts(made.packages));
    const project = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as ProjectManifest;
    await writeFile(join(place, "package.json"), `${JSON.stringify(manifestOf(project), undefined, 2)}\n`);
    await copyFile(join(import.meta.dirname, launcher), join(place, launcher));
    await copyFile(join(import.meta.dirname, "platform-readme.md"), join(place, "README.md"));
    await copyFile(join(root, "LICENSE"), join(place, "LICENSE"));
    return await packDirectory(place, directory);
  } finally {
    await rm(place, { recursive: true });
  }
}

/** Copies the files that are read when the platform runs from the repository `root` to the same places below `target`. */
export async function copyAssets(root: string, target: string): Promise<void> {
  for await (const file of glob(assets, { cwd: root })) await cp(join(root, file), join(target, file));
}

/** Node runs only JavaScript below `node_modules`. */
async function compile(root: string, place: string): Promise<void> {
  const { compilerOptions } = JSON.parse(await readFile(join(root, "tsconfig.json"), "utf8")) as {
    readonly compilerOptions: object;
  };
  const file = join(place, "tsconfig.json");
  const options = {
    ...compilerOptions,
    noEmit: false,
    rewriteRelativeImportExtensions: true,
    rootDir: root,
    outDir: place,
    typeRoots: [join(root, "node_modules", "@types")],
  };
  await writeFile(
    file,
    JSON.stringify({ compilerOptions: options, files: platformEntries.map((entry) => join(root, entry)), include: [] }),
  );
  // It only writes: `npm run check` has checked the types, and that takes four times as long.
  await promisify(execFile)(join(root, "node_modules/.bin/tsc"), ["-p", file, "--noCheck"], { cwd: root });
  await rm(file);
}

function manifestOf({ version, license, dependencies, optionalDependencies }: ProjectManifest): object {
  return {
    name: "weir-platform",
    version,
    description: "Weir on one machine: gateway, durable queue, autoscaler to zero and back, and functions as processes",
    license,
    type: "module",
    bin: { "weir-platform": launcher },
    files: [launcher, "runtime", thirdPartyFile],
    imports: { "#release-buffer": "./runtime/http1/release-buffer.js" },
    dependencies: Object.fromEntries(Object.entries(dependencies).filter(([name]) => !leftOut.has(name))),
    optionalDependencies,
    engines: { node: ">=22.19" },
  };
}
