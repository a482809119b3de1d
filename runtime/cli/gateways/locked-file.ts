import { randomBytes } from "node:crypto";
import { link, mkdir, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { CliError } from "../cli-error.ts";
import { exitCode } from "../exit-code.ts";

/** Milliseconds that another process may hold the lock; a change takes a few. */
const lockTimeout = 10_000;
const pollInterval = 20;

/**
 * Replaces the content of a small file that several processes change: one after the other, by rename, so that a reader
 * or a crash never sees half of it. `change` gets the present text, empty if there is none. The file has mode 0600,
 * its directory 0700.
 */
export async function changeFile(file: string, change: (text: string) => string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const fresh = `${file}.${randomBytes(6).toString("hex")}`;
  const release = await lock(`${file}.lock`);
  try {
    const handle = await open(fresh, "wx", 0o600);
    try {
      await handle.writeFile(change(await readIfThere(file)));
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(fresh, file);
  } finally {
    await rm(fresh, { force: true });
    await release();
  }
}

/** Text of a file, empty if there is none. */
export async function readIfThere(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (err) {
    if (err instanceof Error && "code" in err && err.code === "ENOENT") return "";
    throw new CliError(exitCode.usage, `Cannot read "${file}": ${err instanceof Error ? err.message : String(err)}`, {
      cause: err,
    });
  }
}

/** Acquires the lock file, which holds a process id and a random token. */
async function lock(file: string): Promise<() => Promise<void>> {
  const token = randomBytes(6).toString("hex");
  const own = `${file}.${token}`;
  await writeFile(own, `${process.pid} ${token}`, { mode: 0o600 });
  try {
    for (const deadline = performance.now() + 2 * lockTimeout; performance.now() < deadline;) {
      if (await tryLink(own, file)) return () => rm(file, { force: true });
      await removeAbandoned(file, own);
      await pause(pollInterval);
    }
  } finally {
    await rm(own, { force: true });
  }
  throw new CliError(exitCode.failed, `Cannot change "${file}": another process holds its lock`);
}

async function tryLink(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (err) {
    if (err instanceof Error && "code" in err && err.code === "EEXIST") return false;
    throw err;
  }
}

/** Removes the lock of a process that is gone, or one older than the timeout; never one that was made meanwhile. */
async function removeAbandoned(file: string, own: string): Promise<void> {
  const seen = await readIfThere(file);
  const age = await stat(file).then(
    ({ ctimeMs }) => Date.now() - ctimeMs,
    () => 0,
  );
  if (seen === "" || (isRunning(Number.parseInt(seen, 10)) && age < lockTimeout)) return;
  const aside = `${own}.abandoned`;
  await rename(file, aside).catch(() => {});
  if ((await readIfThere(aside)) !== seen) await link(aside, file).catch(() => {});
  await rm(aside, { force: true });
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (err) {
    return err instanceof Error && "code" in err && err.code === "EPERM";
  }
}
