import { randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

const form = /^[0-9a-f]{8}$/;

/** The name of this data directory's instance at the engine, stored in `file`; generated at the first start. */
export async function instanceName(file: string): Promise<string> {
  const stored = (await readFile(file, "utf8").catch(() => "")).trim();
  if (form.test(stored)) return stored;
  const generated = randomBytes(4).toString("hex");
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, `${generated}\n`, { mode: 0o600 });
  return generated;
}
