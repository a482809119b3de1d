import { writeFileSync } from "node:fs";
import { readFile, rename, rm } from "node:fs/promises";

import { isRefilled, setAside } from "./former-file.ts";

/** SQLITE_CORRUPT and SQLITE_NOTADB, whatever their extension says. */
const damageCodes: ReadonlySet<number> = new Set([11, 26]);

/** Whether an error says that the file is damaged. */
export function isDamage(err: unknown): err is Error {
  return err instanceof Error && "errcode" in err && damageCodes.has(Number(err.errcode) & 0xff);
}

/**
 * Notes that a file is damaged, for who opens it next: while connections are open it cannot be moved. Damage deep in a
 * file shows only to the statement that meets it.
 */
export function markDamaged(file: string, reason: string): void {
  writeFileSync(markOf(file), reason, { mode: 0o600 });
}

/** Why a file was marked; undefined if it was not. */
export async function readDamageMark(file: string): Promise<string | undefined> {
  try {
    return await readFile(markOf(file), "utf8");
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw err;
  }
}

/** Moves a damaged file aside in place of the one before, with its log; returns a sentence that says so. */
export async function setDamagedAside(file: string, reason: string): Promise<string> {
  const aside = `${file}.damaged`;
  for (const suffix of ["", "-wal"]) {
    await rm(`${aside}${suffix}`, { force: true });
    await rename(`${file}${suffix}`, `${aside}${suffix}`).catch(ignoreAbsent);
  }
  await rm(`${file}-shm`, { force: true });
  await rm(markOf(file), { force: true });
  return `Moved damaged file "${file}" to "${aside}": ${reason}`;
}

/** The same of a file that is then filled anew, also from the one that was moved: it is noted where that is. */
export async function setDamagedAsideToRefill(file: string, reason: string): Promise<string> {
  if (isRefilled(file)) {
    // All that it was filled from is still there.
    for (const suffix of ["", "-wal", "-shm"]) await rm(`${file}${suffix}`, { force: true });
    await rm(markOf(file), { force: true });
    return `Removed damaged file "${file}", which was being filled anew: ${reason}`;
  }
  const path = await setAside(file, { reason, isDamaged: true });
  await rm(markOf(file), { force: true });
  return `Moved damaged file "${file}" to "${path}": ${reason}`;
}

function ignoreAbsent(err: NodeJS.ErrnoException): void {
  if (err.code !== "ENOENT") throw err;
}

function markOf(file: string): string {
  return `${file}.mark`;
}
