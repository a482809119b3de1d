import { randomUUID } from "node:crypto";
import { link, readFile, rename, rm, writeFile } from "node:fs/promises";

import { processStart } from "./process-start.ts";

/** A lock that was taken, or the process that has it. */
export type LockOutcome = { readonly release: () => Promise<void> } | { readonly heldBy: number };

interface Holder {
  readonly pid: number;
  /** When that process started; another process with the same number started at another time. */
  readonly start: string;
}

const mostTries = 5;

/** Takes the lock file for this process. What a dead process left behind is taken over. */
export async function holdLock(file: string): Promise<LockOutcome> {
  const own = JSON.stringify({ pid: process.pid, start: (await processStart(process.pid)) ?? "" });
  const fresh = `${file}.${randomUUID()}`;
  await writeFile(fresh, own, { mode: 0o600 });
  try {
    for (let attempt = 0; attempt < mostTries; attempt++) {
      if (await tryLink(fresh, file)) return { release: () => release(file, own) };
      const found = await readText(file);
      const holder = parseHolder(found);
      if (holder !== undefined && (await isAlive(holder))) return { heldBy: holder.pid };
      if (found !== undefined) await removeStale(file, found);
    }
  } finally {
    await rm(fresh, { force: true });
  }
  throw new Error(`the lock "${file}" changes hands again and again`);
}

/** Of several that saw the same stale lock one moves it away; a new one that came in between is put back. */
async function removeStale(file: string, stale: string): Promise<void> {
  const moved = `${file}.${randomUUID()}`;
  try {
    await rename(file, moved);
  } catch (err) {
    if (hasCode(err, "ENOENT")) return;
    throw err;
  }
  if ((await readText(moved)) !== stale) await tryLink(moved, file);
  await rm(moved, { force: true });
}

async function release(file: string, own: string): Promise<void> {
  if ((await readText(file)) === own) await rm(file, { force: true });
}

/** A link appears with all of its content at once, and only if there was none. */
async function tryLink(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (err) {
    if (hasCode(err, "EEXIST")) return false;
    throw err;
  }
}

async function isAlive(holder: Holder): Promise<boolean> {
  return (await processStart(holder.pid)) === holder.start;
}

async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (err) {
    if (hasCode(err, "ENOENT")) return undefined;
    throw err;
  }
}

function parseHolder(text: string | undefined): Holder | undefined {
  try {
    const content: unknown = JSON.parse(text ?? "");
    if (typeof content !== "object" || content === null || !("pid" in content) || !("start" in content)) return undefined;
    const { pid, start } = content;
    return typeof pid === "number" && typeof start === "string" ? { pid, start } : undefined;
  } catch {
    return undefined;
  }
}

function hasCode(err: unknown, code: string): boolean {
  return err instanceof Error && "code" in err && err.code === code;
}
