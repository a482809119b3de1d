import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";

import { makeDirectoryDurably, writeFileDurably } from "../../../disk/durable-files.ts";

const form = /^[0-9a-f]{8}$/;

/** The name of this data directory's instance at the engine, stored in `file`; generated at the first start. */
export async function instanceName(file: string): Promise<string> {
  const stored = (await readFile(file, "utf8").catch(() => "")).trim();
  if (form.test(stored)) return stored;
  const generated = randomBytes(4).toString("hex");
  await makeDirectoryDurably(dirname(file));
  await writeFileDurably(file, `${generated}\n`);
  return generated;
}
