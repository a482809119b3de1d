import { glob, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { makeConsoleFiles } from "../../../scripts/console/make-console-files.ts";
import { consoleList, writeConsole } from "../../../scripts/console/write-console.ts";
import { machineLock } from "../machine-lock.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const directory = join(root, "runtime/console/dist");

/** Builds what gateways serve below `/ui/` unless it is as new as its sources; one process does at a time. */
export async function buildConsoleOnce(): Promise<void> {
  const lock = await machineLock("console-build");
  try {
    const built = await modified(join(directory, consoleList));
    if (built < (await newestSource())) await writeConsole(await makeConsoleFiles(root), directory);
  } finally {
    await lock.release();
  }
}

async function newestSource(): Promise<number> {
  let newest = 0;
  for await (const path of glob("{runtime/{console,api},scripts/console}/**/*.{ts,tsx,css,svg}", { cwd: root }))
    newest = Math.max(newest, await modified(join(root, path)));
  return newest;
}

/** Milliseconds since 1970; 0: there is no such file. */
async function modified(path: string): Promise<number> {
  return await stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}
