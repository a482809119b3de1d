import { existsSync } from "node:fs";
import { readFile, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

import { holdsNothing, syncDirectory, writeFileDurably } from "../../../disk/durable-files.ts";

/** The file that was in the place of one that is filled anew. */
export interface FormerFile {
  readonly path: string;
  /** Why it was set aside, a sentence. */
  readonly reason: string;
  /** Whether it is damaged: then it stays in the end, to be looked at. */
  readonly isDamaged: boolean;
}

/** How a file is named that was set aside. */
const aside = { damaged: "damaged", asked: "former" } as const;
/** Parts of a database that is closed or was killed. */
const parts = ["", "-wal"] as const;

const noteOf = (file: string): string => `${file}.rebuilding`;
const requestOf = (file: string): string => `${file}.rebuild`;

/** Asks for a new file: it is begun when the file is opened next, as it cannot be moved while it is open. */
export async function requestRebuild(file: string, reason: string): Promise<void> {
  await writeFileDurably(requestOf(file), reason);
}

/** Sets a file aside if that was asked for; called before it is opened. */
export async function obeyRebuildRequest(file: string): Promise<void> {
  const reason = await readFile(requestOf(file), "utf8").catch(ignoreAbsent);
  if (reason === undefined) return;
  // While a file is filled anew it is not set aside for that.
  if (!isRefilled(file)) await setAside(file, { reason, isDamaged: false });
  await rm(requestOf(file), { force: true });
}

/** Whether a file is being filled anew. */
export function isRefilled(file: string): boolean {
  return existsSync(noteOf(file));
}

/** Moves a file with its log, and notes where it is; what was moved so before is replaced. Resolves with its new path. */
export async function setAside(
  file: string,
  { reason, isDamaged }: Pick<FormerFile, "reason" | "isDamaged">,
): Promise<string> {
  const path = `${file}.${isDamaged ? aside.damaged : aside.asked}`;
  // First, as the file would be a new one for who opens it next.
  await writeFileDurably(noteOf(file), JSON.stringify({ name: basename(path), reason, isDamaged }));
  for (const part of parts) {
    await rm(`${path}${part}`, { force: true });
    await rename(`${file}${part}`, `${path}${part}`).catch(ignoreAbsent);
  }
  await rm(`${file}-shm`, { force: true });
  await syncDirectory(dirname(file));
  return path;
}

/** The file that was in the place of one that is filled anew; undefined when it is not. */
export async function readFormer(file: string): Promise<FormerFile | undefined> {
  const text = await readFile(noteOf(file), "utf8").catch(ignoreAbsent);
  if (text === undefined) return undefined;
  if (holdsNothing(text)) {
    const isDamaged = existsSync(`${file}.${aside.damaged}`);
    const path = `${file}.${isDamaged ? aside.damaged : aside.asked}`;
    return { path, reason: "the note of the reason is empty", isDamaged };
  }
  const { name, reason, isDamaged } = JSON.parse(text) as Omit<FormerFile, "path"> & { readonly name: string };
  return { path: join(dirname(file), name), reason, isDamaged };
}

/** The file is filled. */
export async function forgetFormer(file: string, { path, isDamaged }: FormerFile): Promise<void> {
  await rm(noteOf(file), { force: true });
  // It was read as if it were open here.
  for (const suffix of ["-shm", ".mark"]) await rm(`${path}${suffix}`, { force: true });
  for (const part of parts)
    if (!isDamaged || (await isEmpty(`${path}${part}`))) await rm(`${path}${part}`, { force: true });
}

async function isEmpty(path: string): Promise<boolean> {
  return (await stat(path).catch(ignoreAbsent))?.size === 0;
}

function ignoreAbsent(err: NodeJS.ErrnoException): undefined {
  if (err.code !== "ENOENT") throw err;
}
