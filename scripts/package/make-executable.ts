import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { bundleCli } from "./bundle-cli.ts";

/**
 * Makes the command `weir` as one file for this system, with the Node.js that runs this: Node's single executable
 * applications. Resolves to its path.
 */
export async function makeExecutable(root: string, directory: string): Promise<string> {
  const place = await mkdtemp(join(tmpdir(), "weir-executable-"));
  try {
    const main = join(place, "weir.mjs");
    const config = join(place, "sea.json");
    const output = join(directory, `weir-${process.platform}-${process.arch}`);
    await writeFile(main, (await bundleCli(root)).code);
    const settings = { main, mainFormat: "module", output, disableExperimentalSEAWarning: true };
    await writeFile(config, JSON.stringify(settings));
    await promisify(execFile)(process.execPath, [`--build-sea=${config}`]);
    return output;
  } finally {
    await rm(place, { recursive: true });
  }
}
