import type { TestProject } from "vitest/node";

import { environment } from "../../runtime/process/settings.ts";
import { packedProgram, type CommandProgram } from "./cli-program.ts";
import { tempDirectory } from "./temp-directory.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The command `weir`: a program and its first arguments. */
    weirCommand: CommandProgram;
  }
}

/** Packs the command `weir` once for all files of a run. `WEIR_TEST_CLI` names another program that is tested instead. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = environment()["WEIR_TEST_CLI"];
  if (given !== undefined) {
    project.provide("weirCommand", [given]);
    return async () => {};
  }
  const place = await tempDirectory("cli");
  project.provide("weirCommand", await packedProgram(place.path));
  return () => place.remove();
}
