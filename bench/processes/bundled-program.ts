import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { imageProcesses, writeProgram } from "../../scripts/images/stage-weir.ts";

const run = promisify(execFile);
const place = join(import.meta.dirname, "../../node_modules/.cache/weir-program");

let made: Promise<string> | undefined;

/** Path of the program that images run, a bundle with compiled modules; built once per process of the bench. */
export function bundledProgram(): Promise<string> {
  made ??= make();
  return made;
}

async function make(): Promise<string> {
  await rm(place, { recursive: true, force: true });
  await writeProgram(place);
  const start = join(place, "start.js");
  for (const name of imageProcesses()) await run(process.execPath, [start, name, "--help"]);
  return start;
}
