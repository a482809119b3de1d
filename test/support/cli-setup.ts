import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import type { TestProject } from "vitest/node";

import { environment } from "../../runtime/process/settings.ts";
import { bundleCli } from "../../scripts/package/bundle-cli.ts";
import { tempDirectory } from "./temp-directory.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The command `weir`: a program and its first arguments. */
    weirCommand: readonly [program: string, ...first: readonly string[]];
  }
}

/**
 * Makes the command `weir` as it is packed, once for all files of a run: it starts in a third of the time that its
 * sources need. `WEIR_TEST_CLI` names another program that is tested instead.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = environment()["WEIR_TEST_CLI"];
  if (given !== undefined) {
    project.provide("weirCommand", [given]);
    return async () => {};
  }
  const place = await tempDirectory("cli");
  const program = join(place.path, "weir.mjs");
  const { code } = await bundleCli(fileURLToPath(new URL("../..", import.meta.url)));
  await writeFile(program, code);
  project.provide("weirCommand", [process.execPath, program]);
  return () => place.remove();
}
