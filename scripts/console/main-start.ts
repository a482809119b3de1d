import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { isConsoleStale } from "./stale-console.ts";

/**
 * Builds the console before a start where its sources are newer. Without rolldown, as in a container image, what was built
 * is served; a console that cannot be built is said, and keeps nothing from starting.
 */
const root = fileURLToPath(new URL("../../", import.meta.url));

if (existsSync(`${root}node_modules/rolldown`) && isConsoleStale(root)) {
  try {
    const { makeConsoleFiles } = await import("./make-console-files.ts");
    const { writeConsole } = await import("./write-console.ts");
    await writeConsole(await makeConsoleFiles(root), `${root}runtime/console/dist`);
  } catch (err) {
    console.error(`Cannot build the console: ${err instanceof Error ? err.message : String(err)}`);
  }
}
