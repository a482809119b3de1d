import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { chmod, mkdir, readFile, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { pipeline } from "node:stream/promises";

import { syncDirectory, syncTree, writeFileDurably } from "../../../disk/durable-files.ts";
import type { Environment } from "./run-command.ts";
import { pinnedVersion } from "./nats-server-version.ts";

const binaryName = "nats-server";
const hashName = "nats-server.sha256";
const maxAttempts = 10;

/** Our cache directory: `weir` below `$XDG_CACHE_HOME` or `~/.cache`. */
export function weirCache(environment: Environment): string {
  const given = environment["XDG_CACHE_HOME"];
  const base = given !== undefined && isAbsolute(given) ? given : join(environment["HOME"] ?? homedir(), ".cache");
  return join(base, "weir");
}

/** Directory of a cached server; the pinned version by default. */
export function cacheDirectory(environment: Environment, version = pinnedVersion): string {
  return join(weirCache(environment), `nats-server-${version}`);
}

/** SHA-256 of a file in hex. */
export async function sha256Of(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}

/** Path of the binary in `directory` if it is intact: its hash is the one noted at its installation. */
export async function cachedBinary(directory: string): Promise<string | undefined> {
  const binary = join(directory, binaryName);
  try {
    const noted = (await readFile(join(directory, hashName), "utf8")).trim();
    return (await sha256Of(binary)) === noted ? binary : undefined;
  } catch {
    return undefined;
  }
}

/** A new empty directory beside the cache, to be filled with a file `nats-server`; the caller removes it in the end. */
export async function makeFreshDirectory(directory: string): Promise<string> {
  const fresh = `${directory}.${randomUUID()}`;
  await mkdir(fresh, { recursive: true, mode: 0o755 });
  return fresh;
}

/**
 * Replaces what is in the cache by a complete fresh directory; resolves with the path of the binary there. Two
 * installations at once do not disturb each other: the first one wins, and both get an intact binary.
 */
export async function putIntoCache(fresh: string, directory: string): Promise<string> {
  const binary = join(fresh, binaryName);
  await chmod(binary, 0o755);
  await writeFileDurably(join(fresh, hashName), `${await sha256Of(binary)}\n`, { mode: 0o644 });
  await syncTree(fresh);
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const cached = await cachedBinary(directory);
    if (cached !== undefined) return cached;
    await replaceDirectory(fresh, directory);
  }
  throw new Error(`the content of "${directory}" keeps changing`);
}

async function replaceDirectory(fresh: string, directory: string): Promise<void> {
  const old = `${directory}.${randomUUID()}`;
  try {
    await rename(directory, old);
  } catch (err) {
    if (!hasCode(err, "ENOENT")) throw err;
  }
  try {
    await rename(fresh, directory);
    await syncDirectory(dirname(directory));
  } catch (err) {
    // Another process was faster, or the fresh directory is already in place; the caller checks again.
    if (!hasCode(err, "ENOTEMPTY", "EEXIST", "ENOENT")) throw err;
  } finally {
    await rm(old, { recursive: true, force: true });
  }
}

function hasCode(err: unknown, ...codes: readonly string[]): boolean {
  return err instanceof Error && "code" in err && codes.includes(String(err.code));
}
