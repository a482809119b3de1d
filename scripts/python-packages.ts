import { createHash, randomUUID } from "node:crypto";
import { access, mkdir, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

import { weirCache } from "../runtime/adapters/nats/server/nats-server-cache.ts";
import { lastComplaint, runCommand, type Environment } from "../runtime/adapters/nats/server/run-command.ts";
import { environment } from "../runtime/process/settings.ts";
import { installedTool } from "./debian-tool.ts";

/** Packages from PyPI in a directory of the cache, separate from those of the machine. */
export interface PythonPackages {
  readonly directory: string;
  /** The environment of this process, in which `python3` finds them. */
  readonly environment: Environment;
}

const questionTimeout = 30_000;
const installTimeout = 900_000;

/**
 * The packages of a requirements file with hashes, whose first line is a comment that begins with their name. Missing
 * ones are installed into the cache with pip, which is reported. When they are not available, the reason is reported
 * and returned as a sentence.
 * @throws Error when a package does not match its hash in the file
 */
export async function pythonPackages(
  requirements: string,
  say: (line: string) => void,
): Promise<PythonPackages | string> {
  const own = environment();
  const text = await readFile(requirements, "utf8");
  const what = /^# (\S+)/.exec(text)?.[1] ?? "packages";
  const without = await withoutPython(own, say);
  if (without !== undefined) return reportFailure(what, without, say);

  const digest = createHash("sha256").update(text).digest("hex").slice(0, 16);
  const directory = join(weirCache(own), `${await pythonTag(own)}-${what}-${digest}`);
  const packages = { directory, environment: { ...own, PYTHONPATH: directory, PYTHONDONTWRITEBYTECODE: "1" } };
  if (await isThere(directory)) return packages;
  say(`Getting ${what} for Python with pip, into ${directory} (once, up to a minute or two) …`);
  const failure = await install(requirements, directory, own);
  return failure === undefined ? packages : reportFailure(what, failure, say);
}

async function install(requirements: string, directory: string, own: Environment): Promise<string | undefined> {
  const fresh = `${directory}.${randomUUID()}`;
  await mkdir(dirname(directory), { recursive: true });
  const flags = ["--quiet", "--require-hashes", "--no-deps", "--only-binary=:all:"];
  const args = ["-m", "pip", "install", ...flags, "--target", fresh, "--requirement", requirements];
  try {
    const installed = await runCommand("python3", args, { environment: own, timeout: installTimeout });
    if (installed.stderr.includes("DO NOT MATCH THE HASHES")) throw new Error(installed.stderr);
    if (installed.code !== 0) return `pip could not install it: ${lastComplaint(installed)}`;
    await rename(fresh, directory).catch(async (cause: unknown) => {
      // Another process has installed them in the meantime.
      if (!(await isThere(directory))) throw cause;
    });
    return undefined;
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

/** Why Python with pip is unavailable, or undefined; as root on Debian it is installed first. */
async function withoutPython(own: Environment, say: (line: string) => void): Promise<string | undefined> {
  const asked = () => runCommand("python3", ["-m", "pip", "--version"], { environment: own, timeout: questionTimeout });
  if ((await asked()).code !== 0) {
    installedTool("pip3", "python3-pip", say);
    if ((await asked()).code !== 0) return "Python 3 with pip is not there";
  }
  const question = "import sys; sys.exit(sys.version_info < (3, 11))";
  const recent = await runCommand("python3", ["-c", question], { environment: own, timeout: questionTimeout });
  return recent.code === 0 ? undefined : "Python is older than 3.11";
}

/** A tag of the Python version, as compiled packages depend on it. */
async function pythonTag(own: Environment): Promise<string> {
  const question = "import sys; print(sys.implementation.cache_tag)";
  const { stdout } = await runCommand("python3", ["-c", question], { environment: own, timeout: questionTimeout });
  return stdout.trim();
}

function reportFailure(what: string, because: string, say: (line: string) => void): string {
  const sentence = `Cannot get ${what} for Python: ${because}`;
  say(sentence);
  return sentence;
}

async function isThere(directory: string): Promise<boolean> {
  try {
    await access(directory);
    return true;
  } catch {
    return false;
  }
}
