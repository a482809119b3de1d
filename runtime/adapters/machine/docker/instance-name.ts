import { randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

const form = /^[0-9a-f]{8}$/;

/** The name of this data directory's instance at the engine, kept in `file`; made at the first start. */
export async function instanceName(file: string): Promise<string> {
  const kept = (await readFile(file, "utf8").catch(() => "")).trim();
  if (form.test(kept)) return kept;
  const made = randomBytes(4).toString("hex");
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, `${made}\n`, { mode: 0o600 });
  return made;
}
