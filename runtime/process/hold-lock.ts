import { randomUUID } from "node:crypto";
import { link, readFile, rm, writeFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";

import { processStart } from "./process-start.ts";

/** A lock that was acquired, or the process that holds it. */
export type LockOutcome = { readonly release: () => Promise<void> } | { readonly heldBy: number };

interface Holder {
  readonly pid: number;
  /** When that process started; another process with the same number started at another time. */
  readonly start: string;
}

const timeout = 5_000;
const pollInterval = 10;

/** Acquires the lock file for this process; one that a dead process left behind is taken over. */
export async function holdLock(file: string): Promise<LockOutcome> {
  const own = JSON.stringify({ pid: process.pid, start: (await processStart(process.pid)) ?? "", token: randomUUID() });
  const fresh = `${file}.${randomUUID()}`;
  const deadline = performance.now() + timeout;
  await writeFile(fresh, own, { mode: 0o600 });
  try {
    while (performance.now() < deadline) {
      if (await tryLink(fresh, file)) return { release: () => release(file, own) };
      const found = await readText(file);
      const holder = parseHolder(found);
      if (holder !== undefined && (await isAlive(holder))) return { heldBy: holder.pid };
      if (found !== undefined && !(await removeStale(file, found))) await pause(pollInterval);
    }
  } finally {
    await rm(fresh, { force: true });
  }
  throw new Error(`the lock "${file}" changes hands again and again`);
}

/**
 * Removes the lock of a dead process; false when another process is already doing that. Only one of those that saw the
 * same stale lock may remove it, else the second would remove the new lock of the first.
 */
async function removeStale(file: string, stale: string): Promise<boolean> {
  const guard = await holdLock(`${file}.guard`);
  if ("heldBy" in guard) return false;
  if ((await readText(file)) === stale) await rm(file, { force: true });
  await guard.release();
  return true;
}

async function release(file: string, own: string): Promise<void> {
  if ((await readText(file)) === own) await rm(file, { force: true });
}

/** A link appears at once with all of its content, and only if there was none. */
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
    if (typeof content !== "object" || content === null || !("pid" in content) || !("start" in content))
      return undefined;
    const { pid, start } = content;
    return typeof pid === "number" && typeof start === "string" ? { pid, start } : undefined;
  } catch {
    return undefined;
  }
}

function hasCode(err: unknown, code: string): boolean {
  return err instanceof Error && "code" in err && err.code === code;
}
