import { randomBytes } from "node:crypto";
import { chmod, link, readFile, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { formatDuration } from "../../api/duration.ts";
import { makeDirectoryDurably, writeFileDurably } from "../../disk/durable-files.ts";
import { CliError } from "../cli-error.ts";
import { exitCode } from "../exit-code.ts";
import { errorMessage } from "../error-message.ts";

/** How long locks are waited for and last, milliseconds. */
export interface LockTimes {
  /** Longest wait for a lock; a change takes a few. */
  readonly wait: number;
  /** After this a lock or file of another process is abandoned, whether or not the number of the process is in use. */
  readonly abandonedAge: number;
  readonly now: () => number;
}

const usualTimes: LockTimes = { wait: 30_000, abandonedAge: 60_000, now: Date.now };
const pollInterval = 20;

/**
 * Replaces the content of a small file that several processes change: one after the other, by rename, so that a reader
 * or a power cut never sees half of it. `change` gets the present text, empty if there is none. The file has mode 0600,
 * its directory, which is this program's own, 0700.
 * @throws CliError when it cannot be written, or another process holds its lock
 */
export async function changeFile(file: string, change: (text: string) => string): Promise<void> {
  await whileLocked(file, async () => {
    const text = change(await readIfThere(file));
    await namingFile(file, () => writeFileDurably(file, text));
  });
}

/**
 * Runs `work` while no other process does so for the same path, which need not be there.
 * @throws CliError when there can be no lock, or another process holds it for too long
 */
export async function whileLocked<T>(path: string, work: () => Promise<T>, times: Partial<LockTimes> = {}): Promise<T> {
  const all = { ...usualTimes, ...times };
  const lockFile = `${path}.lock`;
  const release = await namingFile(path, async () => {
    await openDirectory(dirname(path));
    return lock(lockFile, all);
  });
  // Work may wait for others longer than an abandoned lock stays: the lock of a living holder is never old.
  const renewal = setInterval(() => {
    const now = new Date(all.now());
    void utimes(lockFile, now, now).catch(() => {});
  }, all.abandonedAge / 3);
  try {
    await namingFile(path, () => removeLeftovers(path, all));
    return await work();
  } finally {
    clearInterval(renewal);
    await namingFile(path, release);
  }
}

/** The result of `act`; errors of the system become one that names the file. */
async function namingFile<T>(file: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (cause) {
    if (cause instanceof CliError || !hasCode(cause)) throw cause;
    throw new CliError(exitCode.usage, `Cannot change "${file}": ${cause.message}`, { cause });
  }
}

/** Text of a file, empty if there is none. */
export async function readIfThere(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    if (hasCode(cause, "ENOENT")) return "";
    throw new CliError(exitCode.usage, `Cannot read "${file}": ${errorMessage(cause)}`, { cause });
  }
}

async function openDirectory(directory: string): Promise<void> {
  await makeDirectoryDurably(directory);
  if (((await stat(directory)).mode & 0o077) !== 0) await chmod(directory, 0o700);
}

/** Acquires the lock file: a link, which appears at once with all of its content, and only if there was none. */
async function lock(file: string, times: LockTimes): Promise<() => Promise<void>> {
  const id = token();
  const own = `${process.pid} ${hostname()} ${id}`;
  const fresh = `${file}.${id}`;
  let seen = "";
  await writeFile(fresh, own, { mode: 0o600, flag: "wx" });
  try {
    for (const deadline = performance.now() + times.wait; performance.now() < deadline;) {
      if (await tryLink(fresh, file)) return () => remove(file, own);
      seen = await readIfThere(file);
      if (await isAbandoned(file, seen, times)) await removeAbandoned(file, seen, times);
      await pause(pollInterval);
    }
  } finally {
    await rm(fresh, { force: true });
  }
  throw heldTooLong(file, seen, times.wait);
}

function heldTooLong(file: string, content: string, wait: number): CliError {
  const [pid = "", host = hostname()] = content.split(" ");
  const holder = pid === "" ? "another process" : host === hostname() ? `process ${pid}` : `process ${pid} of ${host}`;
  const path = file.replace(/(?:\.lock|\.guard)+$/, "");
  const sentence = `Cannot change "${path}" within ${formatDuration(wait)}: ${holder} holds its lock "${file}"`;
  return new CliError(exitCode.failed, `${sentence}; end that process, or wait for it`);
}

/**
 * Removes the lock of a process that is gone. One process at a time does that, else the second would remove the new
 * lock of a third.
 */
async function removeAbandoned(file: string, seen: string, times: LockTimes): Promise<void> {
  const release = await lock(`${file}.guard`, times);
  try {
    await remove(file, seen);
  } finally {
    await release();
  }
}

async function remove(file: string, content: string): Promise<void> {
  if ((await readIfThere(file)) === content) await rm(file, { force: true });
}

async function isAbandoned(file: string, content: string, times: LockTimes): Promise<boolean> {
  const [pid = "", host] = content.split(" ");
  // No text: it was removed meanwhile, or a power cut emptied it.
  if (pid === "") return isOld(file, times);
  return (host === hostname() && !isRunning(Number(pid))) || (await isOld(file, times));
}

/** Removes what processes left that were killed while they wrote or waited. */
async function removeLeftovers(file: string, times: LockTimes): Promise<void> {
  const name = basename(file);
  const leftover = /^\.(?:lock(?:\.guard)*\.)?[0-9a-f]{12}(?:\.new)?$/;
  for (const each of await readdir(dirname(file))) {
    const path = join(dirname(file), each);
    if (each.startsWith(name) && leftover.test(each.slice(name.length)) && (await isOld(path, times)))
      await rm(path, { force: true });
  }
}

async function isOld(file: string, { abandonedAge, now }: LockTimes): Promise<boolean> {
  const found = await stat(file).catch(() => undefined);
  return found !== undefined && now() - found.mtimeMs > abandonedAge;
}

async function tryLink(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (err) {
    if (hasCode(err, "EEXIST")) return false;
    throw err;
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (err) {
    return hasCode(err, "EPERM");
  }
}

function token(): string {
  return randomBytes(6).toString("hex");
}

/** Whether it is an error of the system, and with this code if one is named. */
function hasCode(err: unknown, code?: string): err is Error {
  return err instanceof Error && "code" in err && (code === undefined || err.code === code);
}
