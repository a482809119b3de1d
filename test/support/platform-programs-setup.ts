import type { TestProject } from "vitest/node";

import { environment } from "../../runtime/process/settings.ts";
import { programsVariable } from "./platform-programs.ts";
import { tempDirectory } from "./temp-directory.ts";

/**
 * Names the directory in which the processes of a platform are bundled once for all files of a run. When
 * `WEIR_TEST_PROGRAMS` is empty they run from their sources.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (environment()[programsVariable] !== undefined) return async () => {};
  const place = await tempDirectory("programs");
  project.config.env = { ...project.config.env, [programsVariable]: place.path };
  return () => place.remove();
}
