import { readFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * Text of a file of a template, as in `node/server.js`. Alone in its file: `scripts/package` puts another one, which
 * holds the texts, into the packed command.
 */
export async function templateText(path: string): Promise<string> {
  return await readFile(join(import.meta.dirname, "..", "templates", path), "utf8");
}
