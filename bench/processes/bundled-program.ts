import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { imageProcesses, writeProgram } from "../../scripts/images/stage-weir.ts";

const run = promisify(execFile);
const place = join(import.meta.dirname, "../../../node_modules/.cache/weir-program");

let made: Promise<string> | undefined;

/** The program that images start processes with, made once by this one as images have it: a bundle, its modules compiled. */
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
