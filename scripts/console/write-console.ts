import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { MadeConsole } from "./make-console-files.ts";

/** The list of the files, in the directory itself. */
export const consoleList = "files.json";

/**
 * Writes the files into `directory`, then the list, then removes what is in neither: a gateway that reads the list
 * meanwhile finds every file of the old or of the new one.
 */
export async function writeConsole(
  { list, files }: Pick<MadeConsole, "list" | "files">,
  directory: string,
): Promise<void> {
  await mkdir(directory, { recursive: true });
  await Promise.all(files.map(({ file, bytes }) => writeFile(join(directory, file), bytes)));
  await writeFile(join(directory, consoleList), `${JSON.stringify(list, undefined, 1)}\n`);
  const wanted = new Set([consoleList, ...files.map(({ file }) => file)]);
  for (const name of await readdir(directory)) if (!wanted.has(name)) await rm(join(directory, name));
}
