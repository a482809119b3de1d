import { existsSync } from "node:fs";
import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";

import { environment } from "../../runtime/process/settings.ts";
import { bundleSources } from "../../scripts/images/bundle-sources.ts";
import { imageProcesses } from "../../scripts/images/stage-weir.ts";
import { copyAssets, platformEntries } from "../../scripts/package/make-platform-package.ts";
import { machineLock } from "./machine-lock.ts";
import { poisonCondition } from "./poison-condition.ts";

/** The directory of the bundle; without it, or when it is empty, processes run from their sources. */
export const programsVariable = "WEIR_TEST_PROGRAMS";

const repository = join(import.meta.dirname, "..", "..");
/** Those of the image, and those of one machine with what they start as their children. */
const programs = new Set([...imageProcesses().map((name) => `runtime/${name}/main.ts`), ...platformEntries]);

let made: Promise<void> | undefined;

/**
 * Path of the program whose main file, below the repository, is `main`. A process of the platform runs from a bundle of
 * the sources, as it does in its image: loading 1 700 modules is most of a start, and tests start hundreds.
 */
export async function platformProgram(main: string): Promise<string> {
  const directory = environment()[programsVariable] ?? "";
  if (directory === "" || !programs.has(main)) return join(repository, main);
  await (made ??= bundle(directory));
  return join(directory, main.replace(/ts$/, "js"));
}

/** Test files of a run share it: the first one bundles. */
async function bundle(directory: string): Promise<void> {
  const lock = await machineLock(`programs-in-${directory}`);
  try {
    // It is written last.
    if (existsSync(join(directory, "package.json"))) return;
    await mkdir(join(directory, "runtime"), { recursive: true });
    await symlink(join(repository, "runtime/console"), join(directory, "runtime/console"));
    await copyAssets(repository, directory);
    await bundleSources(repository, [...programs], directory, [poisonCondition]);
  } finally {
    await lock.release();
  }
}
