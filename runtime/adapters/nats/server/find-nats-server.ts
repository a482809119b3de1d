import { access, constants, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join, resolve } from "node:path";

import { PlatformError } from "../../../api/platform-error.ts";
import { installNatsServer } from "./install-nats-server.ts";
import { cacheDirectory, cachedBinary } from "./nats-server-cache.ts";
import { compareVersions, oldestVersion, readNatsServerVersion } from "./nats-server-version.ts";
import type { Environment } from "./run-command.ts";

export interface FindOptions {
  /** From the setting: this file and no other. */
  readonly path?: string | undefined;
  /** `PATH`, `HOME` and `XDG_CACHE_HOME` say where to look; pip, go and apt-get inherit all of it. */
  readonly environment: Environment;
  /** Receives progress lines: what is installed, and how long it may take. */
  readonly say: (line: string) => void;
}

/** A nats-server that runs here and is new enough. */
export interface NatsServerBinary {
  readonly path: string;
  /** E.g. `2.15.1`. */
  readonly version: string;
  readonly source: "setting" | "PATH" | "cache" | "installed";
  /** Why servers found before this one were rejected, one sentence each. */
  readonly ignored: readonly string[];
}

/**
 * Finds nats-server: by the setting, on PATH or in our cache; otherwise installs it.
 * @throws PlatformError `queue_unavailable` with a sentence, or three lines, that say what to do
 */
export async function findNatsServer(options: FindOptions): Promise<NatsServerBinary> {
  const { environment } = options;
  if (options.path !== undefined) {
    const path = resolve(options.path);
    const checked = await check(path, environment);
    if ("problem" in checked) throw unusable(checked.problem);
    return { path, version: checked.version, source: "setting", ignored: [] };
  }

  const ignored: string[] = [];
  for (const path of candidates(environment["PATH"] ?? "")) {
    if (!(await isExecutable(path))) continue;
    const checked = await check(path, environment);
    if ("version" in checked) return { path, version: checked.version, source: "PATH", ignored };
    ignored.push(checked.problem);
  }

  const directory = cacheDirectory(environment);
  const cached = await cachedBinary(directory);
  if (cached !== undefined) {
    const checked = await check(cached, environment);
    if ("version" in checked) return { path: cached, version: checked.version, source: "cache", ignored };
    ignored.push(checked.problem);
  }

  const path = await installNatsServer(directory, { environment, say: options.say });
  const checked = await check(path, environment);
  if ("problem" in checked) throw unusable(checked.problem);
  return { path, version: checked.version, source: "installed", ignored };
}

async function check(
  path: string,
  environment: Environment,
): Promise<{ readonly version: string } | { readonly problem: string }> {
  if (!(await isExecutable(path))) {
    return { problem: `Cannot use nats-server "${path}": it is not there, or not a file that may be run` };
  }
  const version = await readNatsServerVersion(path, environment);
  if (version === undefined) {
    return { problem: `Cannot use nats-server "${path}": it is broken, or another program; reinstall it` };
  }
  return compareVersions(version, oldestVersion) < 0
    ? { problem: `Cannot use nats-server "${path}": it is version ${version}, and ${oldestVersion} or newer is needed` }
    : { version };
}

function unusable(sentence: string): PlatformError {
  return new PlatformError("queue_unavailable", sentence);
}

function candidates(searchPath: string): string[] {
  const directories = searchPath.split(delimiter).filter((directory) => isAbsolute(directory));
  return [...new Set(directories)].map((directory) => join(directory, "nats-server"));
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
